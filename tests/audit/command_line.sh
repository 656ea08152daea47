#!/usr/bin/env bash
# sandbox-audit as a person types it: every part, every filter, what it refuses, and what it does about damage.
# shellcheck source=../cli/common.sh
source "$(dirname "$0")/../cli/common.sh"
log=$CORDON_STATE_DIR/audit

day() { date -u -d "$1" +%F; }
records() { audit_driver record "$log" "$1"; } # TIME, records on stdin
# Runs a command with a terminal as stdin and stdout; what it writes is in $output.
on_terminal() { output=$(script -qec "$(printf '%q ' "$@")" /dev/null </dev/null | tr -d '\r'); }
json() { python3 -c 'import json,sys; d=json.load(sys.stdin); sys.exit(0 if eval(sys.argv[1]) else 1)' "$1" <<<"$output" ||
  fail "not so: $1"$'\n'"$output"; }

# ── before anything has run ──
exits 0 sandbox-audit log
says "nothing has run yet"
exits 0 sandbox-audit stats --json
json 'd["total_commands"] == 0 and d["time_range"]["from"] is None'
exits 1 sandbox-audit verify
says "there is no audit log"
exits 1 sandbox-audit
exits 1 sandbox-audit lgo
says "Did you mean"

# ── a log of some days ──
mkdir -p "$CORDON_STATE_DIR" && chmod 700 "$CORDON_STATE_DIR"
records "$(day -40days)T09:00:00Z" <<'R'
{"command":"old news","user":"ann","status":"executed","risk":"safe","request":"r0","exit":0}
R
records "$(day -2days)T09:00:00Z" <<'R'
{"command":"git push origin main","user":"ann","status":"executed","output":"To there\n","risk":"normal","request":"r1","exit":0}
{"kind":"refused","command":"rm -rf /","user":"agent-7","status":"blocked","risk":"disallowed","request":"r2"}
R
long=$(python3 -c 'print("row\\n" * 3000 + "the very end", end="")')
secret=$(printf 'AKIA%s' IOSFODNN7EXAMPLQ)
today=$(date -u +%FT%T.000000Z)
records "$today" <<R
{"kind":"approval.requested","command":"rm -rf build","user":"agent-7","status":"queued","risk":"dangerous","request":"r3","approval":"cmd_aaaaaaaaaa"}
{"command":"rm -rf build","user":"agent-7","status":"failed","output":"$long","risk":"dangerous","request":"r3","approval":"cmd_aaaaaaaaaa","exit":1}
{"command":"printf '\\u001b[2J\\u202egnp.exe'","user":"agent-7","status":"executed","output":"\\u001b]0;owned\\u0007","risk":"safe","request":"r4","exit":0}
{"kind":"refused","command":"=cmd|' /C calc'!A0","user":"@sum","status":"blocked","risk":"critical","request":"r5"}
{"command":"aws --key $secret s3 ls","user":"ann","status":"executed","risk":"normal","request":"r6","exit":0}
R

# ── log ──
exits 0 sandbox-audit log --last 3
[[ $(wc -l <<<"$output") == 3 ]] || fail "not three lines: $output"
grep -qE '^[^|]+Z \| =cmd\|.* \| @sum \| blocked \|  \| critical$' <<<"$output" || fail "not the six fields: $output"
says_not $'\e'
says '\x1b[2J'
says_not "$secret"
says 'redacted:'
exits 0 sandbox-audit log --risk-level dangerous
says "rm -rf build"
says_not "git push"
exits 0 sandbox-audit log --status blocked --user agent-7
says "rm -rf / "
says_not "calc"
exits 0 sandbox-audit log --command-pattern 'git*'
says "git push origin main | ann | executed | To there\\n | normal"
exits 0 sandbox-audit log --since 3d --until 1d
says "git push"
says_not "rm -rf build"
says_not "old news"
exits 0 sandbox-audit log --since "$(day -40days)" --until "$(day -39days)"
[[ $output == *"old news"* && $(wc -l <<<"$output") == 1 ]] || fail "a day: $output"
exits 0 sandbox-audit log --all --last 100 --jsonl
[[ $(grep -c '"kind":"intent"' <<<"$output") == 5 ]] || fail "intents with --all: $output"
exits 0 sandbox-audit log --last 2 --json
json 'd["count"] == 2 and list(d["entries"][0])[:6] == ["timestamp","command","user","status","output","risk"]'
exits 1 sandbox-audit log --risk-level spicy
says "--risk-level is safe"
exits 1 sandbox-audit log --since whenever
on_terminal env -u NO_COLOR TERM=xterm sandbox-audit log --last 4
says "Seq"
says $'\e[31mcritical'
says_not $'\e[2J'
says_not $'\u202e'

# ── show ──
seq_of() { sandbox-audit log --last 100 --jsonl --command-pattern "$1" | sed -nE 's/.*"seq":([0-9]+).*/\1/p' | tail -n1; }
build=$(seq_of 'rm -rf build')
exits 0 sandbox-audit show "$build"
says "the very end"
says "approval.requested"
says "← this"
exits 0 sandbox-audit show "$build" --output
[[ $output == "$(printf '%b' "$long")" ]] || fail "--output is not the output"
exits 0 sandbox-audit show "$build" --json
json 'd["record"]["exit"] == 1 and len(d["related"]) == 2 and d["output"].endswith("the very end") and d["output_kept"]'
exits 0 sandbox-audit show "$build" --raw
prev=$(sed -nE 's/.*"prev":"([0-9a-f]+)".*/\1/p' <<<"$(sandbox-audit show $((build + 1)) --raw)")
[[ $(printf '\0%s' "$output" | sha256sum | cut -d' ' -f1) == "$prev" ]] || fail "--raw is not what was hashed"
exits 1 sandbox-audit show 9999
says "there is no record 9999"
on_terminal sandbox-audit show "$(seq_of 'printf*')"
says '\x1b]0;owned'
says_not $'\e]0;'

# ── find: the secret itself is nowhere, where it was used is known ──
exits 0 sandbox-audit find --secret - <<<"$secret"
says "aws --key"
exits 1 sandbox-audit find --secret - <<<"another-secret-entirely"
! grep -rqF "$secret" "$log" || fail "the secret is in the log"

# ── stats ──
exits 0 sandbox-audit stats --json
json '[d[k] for k in ("total_commands","safe","normal","dangerous","critical","disallowed")] == [7,2,2,1,1,1]'
json 'd["by_status"] == {"blocked": 2, "executed": 4, "failed": 1, "queued": 1} and d["by_user"]["agent-7"] == 3'
json 'd["top_commands"][0]["count"] >= 1 and list(d)[:10] == ["total_commands","safe","normal","dangerous","critical","disallowed","by_status","by_user","top_commands","time_range"]'
exits 0 sandbox-audit stats --period 7d
says "6 commands"
says_not "█"
exits 1 sandbox-audit stats --period sometimes
on_terminal sandbox-audit stats
says "█"

# ── export ──
exits 0 sandbox-audit export --format json --output "$scratch/all.json"
[[ $(stat -c %a "$scratch/all.json") == 600 ]] || fail "the export is not private"
output=$(cat "$scratch/all.json")
json 'len(d) == 8 and d[0]["command"] == "old news"'
exits 1 sandbox-audit export --output "$scratch/all.json"
says "--force"
exits 0 sandbox-audit export --format csv --output "$scratch/all.json" --force
output=$(cat "$scratch/all.json")
says "\"'=cmd|' /C calc'!A0\",\"'@sum\""
ln -s "$scratch/elsewhere" "$scratch/link"
exits 1 sandbox-audit export --output "$scratch/link"
[[ ! -e $scratch/elsewhere ]] || fail "wrote through a link"
exits 0 sandbox-audit export --format jsonl --since 1d
[[ $(wc -l <<<"$output") == 5 ]] || fail "jsonl since a day ago: $output"
exits 1 sandbox-audit export --format xml
[[ -z $(find "$scratch" -name '*.new.*') ]] || fail "an export left its temporary file"

# ── verify, prove, checkpoint ──
exits 0 sandbox-audit verify
says "days sealed"
exits 0 sandbox-audit verify --json
json 'd["result"] == "good" and d["unsigned_tail"] == 0 and d["damage"] == []'
exits 0 sandbox-audit verify --key "$log/key.pub" --from "$(day -2days)"
exits 0 sandbox-audit verify --key "$(cat "$log/key.pub")"
exits 1 sandbox-audit verify --from tuesday
sandbox-audit prove "$build" >"$scratch/proof" 2>"$scratch/how"
grep -q "cordon-verify proof" "$scratch/how" || fail "does not say how to check"
exits 0 cordon-verify proof "$scratch/proof" --key "$log/key.pub"
says '"exit":1'
exits 1 sandbox-audit prove 9999
sandbox-audit checkpoint --quiet >"$scratch/kept"
exits 0 sandbox-audit verify --against "$scratch/kept"

# ── retain: as the settings say without presence, less only with it ──
exits 0 sandbox-audit retain --dry-run
says "$(day -40days)"
says "would be deleted"
[[ -e $log/$(day -40days).jsonl ]] || fail "--dry-run deleted"
exits 126 sandbox-audit retain --days 1 </dev/null
[[ -e $log/$(day -40days).jsonl ]] || fail "deleted without presence"
exits 0 sandbox-audit retain
[[ ! -e $log/$(day -40days).jsonl && -e $log/$(day -40days).seal && -e $log/$(day -2days).jsonl ]] || fail "retain: $output"
exits 0 sandbox-audit verify
says "retention notice"
exits 0 sandbox-audit verify --against "$scratch/kept"
CORDON_APPROVER_TOKEN=$(cordon approver init --unattended 2>/dev/null)
export CORDON_APPROVER_TOKEN
exits 0 sandbox-audit retain --days 1
[[ ! -e $log/$(day -2days).jsonl ]] || fail "retain --days 1: $output"
exits 0 sandbox-audit log --all --status deleted
says "(token)"
exits 0 sandbox-audit verify

# ── erase: the text goes, the proof stays ──
unset CORDON_APPROVER_TOKEN
exits 126 sandbox-audit erase "$build" --reason "a name in it" </dev/null
cordon_token() { rm -f "$CORDON_STATE_DIR/approver.json" && cordon approver init --unattended 2>/dev/null; }
CORDON_APPROVER_TOKEN=$(cordon_token)
export CORDON_APPROVER_TOKEN
exits 0 sandbox-audit erase "$build" --reason "a name in it"
exits 0 sandbox-audit show "$build"
says "erased or deleted"
exits 0 sandbox-audit verify
exits 0 cordon-verify proof "$scratch/proof" --key "$log/key.pub"
exits 0 sandbox-audit log --status erased --json
json 'd["entries"][0]["detail"]["reason"] == "a name in it"'

# ── damage: named with day, line and byte; nothing is written until it is answered ──
exits 1 sandbox-audit quarantine --reason "for fun"
says "the log is sound"
file=$log/$(date -u -d "$today" +%F).jsonl
cp "$file" "$scratch/good"
sed -i '2s/rm -rf build/rm -rf BUILD/' "$file"
exits 2 sandbox-audit verify
says "$(basename "$file"), line 2, byte "
says "Nothing runs until this is answered"
exits 2 cordon-verify log "$log"
exits 0 sandbox-audit log
says "the log is damaged"
exits 1 sandbox-audit checkpoint
says "cordon audit verify"
cp "$scratch/good" "$file"
exits 0 sandbox-audit verify
exits 0 sandbox-audit checkpoint --quiet
sed -i '3d' "$file"
exits 2 sandbox-audit verify --json
json 'd["result"] == "damaged" and d["damage"][0]["line"] == 3'
token=$CORDON_APPROVER_TOKEN
unset CORDON_APPROVER_TOKEN
exits 126 sandbox-audit quarantine --reason "the disk" </dev/null
export CORDON_APPROVER_TOKEN=$token
exits 0 sandbox-audit quarantine --reason "the disk"
says "quarantine/"
exits 0 sandbox-audit verify
exits 0 sandbox-audit log --json
json 'd["entries"][0]["detail"]["reason"] == "the disk" and "(token)" in d["entries"][0]["user"]'
exits 2 cordon-verify log "$log"/quarantine/*
exits 2 sandbox-audit verify --against "$scratch/kept"
echo "audit: log, show, find, stats, export, verify, prove, retain, erase and quarantine do as they say"
