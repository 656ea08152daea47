#!/usr/bin/env bash
# sandbox-queue, typed as a person would: nothing runs before its approval, an approval runs its command once, and what
# changed in between runs not at all.
# shellcheck source=common.sh
source "$(dirname "$0")/common.sh"
git init -q .
unset CORDON_SANDBOX
CORDON_APPROVER_TOKEN=$(cordon approver init --unattended 2>/dev/null)
token=$CORDON_APPROVER_TOKEN
unset CORDON_APPROVER_TOKEN
with_token() { CORDON_APPROVER_TOKEN=$token "$@"; }
# queued COMMAND…: asks for it; its id is in $id
queued() {
  exits 75 sandbox-exec --json --require-approval "$@" </dev/null
  id=$(grep -oE 'cmd_[a-z0-9]{10,}' <<<"$output" | head -1)
  [[ -n $id ]] || fail "no id:"$'\n'"$output"
}

exits 0 sandbox-queue list
says "Nothing waits"
queued "touch made"
says '"message": "Command queued for approval"'
says "\"approval_instructions\": \"Run: sandbox-queue approve $id\""
[[ ! -e made ]] || fail "--require-approval executed it"

exits 0 sandbox-queue list
says "$id"
says $'\t'"touch made"
exits 0 sandbox-queue list --json
python3 -c '
import json, sys
entries = json.loads(sys.argv[1])
keys = list(entries[0])
want = "id command risk_level risk_reasons context status created_at expires_at approved_at approved_by notes rejected_at rejected_by reason plan result".split()
assert keys[:len(want)] == want, keys
assert entries[0]["id"] == sys.argv[2] and entries[0]["status"] == "pending"
' "$output" "$id" || fail "list --json is not the entry of the interface"
exits 0 sandbox-queue list --status approved --json
[[ $output == "[]" ]] || fail "approved: $output"
exits 1 sandbox-queue list --status nonsense
says "--status 'nonsense'"

exits 0 sandbox-queue show "$id"
says "Command (1 line, 10 characters, whole):"
says "sha256"
says "Environment"
says "Limits"
exits 0 sandbox-queue show "$id" --json
says '"changed_since": []'

# Ids are matched whole; presence is not a word one can claim.
exits 1 with_token sandbox-queue approve "${id%?}"
says "Command not found in queue"
exits 126 sandbox-queue approve "$id" --by "the user" --notes "approved: the user said yes" </dev/null
CORDON_APPROVER_TOKEN=wrong exits 126 sandbox-queue approve "$id"
says "that is not the approver's secret"
CORDON_SANDBOX=1 exits 126 with_token sandbox-queue approve "$id"
says "never come from inside a sandbox"
exits 126 with_token sandbox-queue --agent builder approve "$id"
says "an agent cannot approve"
CORDON_AGENT=builder exits 126 with_token sandbox-queue approve "$id"
exits 75 sandbox-queue wait "$id" --timeout 1ms
[[ ! -e made ]] || fail "it ran without an approval"

exits 0 with_token sandbox-queue approve "$id" --by alice --notes "looks right" --json
says '"executed": true'
[[ -e made ]] || fail "approved, but not run"
exits 1 with_token sandbox-queue approve "$id"
says "Command is already executed"
exits 1 sandbox-queue reject "$id" --reason late
says "Command is already executed"
exits 0 sandbox-queue wait "$id"
exits 0 sandbox-queue show "$id" --json
says '"approved_by": "alice"'
says '"notes": "looks right"'

# Output passes through, and the exit code is the command's.
queued "sh -c 'echo spoken; exit 7'"
exits 7 with_token sandbox-queue approve "$id"
says "spoken"
exits 0 sandbox-queue list --status failed
says "$id"

queued "touch never"
exits 1 sandbox-queue reject "$id" --reason " "
exits 0 sandbox-queue reject "$id" --reason "too broad" --by bob
exits 126 sandbox-queue wait "$id"
says "rejected: too broad"
exits 1 with_token sandbox-queue approve "$id"
says "Command is already rejected"
[[ ! -e never ]] || fail "a rejected command ran"

# Rewritten while it waited.
echo 'echo harmless' >deploy.sh
queued "bash deploy.sh"
echo 'touch pwned' >deploy.sh
exits 0 sandbox-queue show "$id"
says "CHANGED SINCE"
says "deploy.sh has another content"
exits 126 with_token sandbox-queue approve "$id"
says "deploy.sh has another content"
[[ ! -e pwned ]] || fail "a script that was rewritten while pending ran"
exits 126 sandbox-queue wait "$id"
says "is drifted"

# Left to the asker.
queued "touch later"
exits 0 with_token sandbox-queue approve "$id" --no-run
says "must ask again"
[[ ! -e later ]] || fail "--no-run ran it"
exits 0 sandbox-exec --require-approval "touch later" </dev/null
[[ -e later ]] || fail "the asker's retry did not run"
queued "touch later"

# Several times, where that means the same each time.
queued "rm -f scratch"
exits 0 with_token sandbox-queue approve "$id" --uses 2 --for 1h --no-run
exits 0 sandbox-exec --require-approval "rm -f scratch" </dev/null
exits 0 sandbox-exec --require-approval "rm -f scratch" </dev/null
exits 75 sandbox-exec --require-approval "rm -f scratch" </dev/null
queued "bash -c 'rm -f scratch'"
exits 126 with_token sandbox-queue approve "$id" --uses 2
says "can only be approved for one run"
queued "rm -f another"
exits 1 with_token sandbox-queue approve "$id" --for 90d
says "at most"

# An asker that waits runs it itself.
sandbox-exec --require-approval --wait 60s "touch waited" </dev/null 2>"$scratch/waiting" &
asker=$!
until id=$(grep -oE 'cmd_[a-z0-9]+' "$scratch/waiting" | head -1) && [[ -n $id ]]; do
  kill -0 "$asker" 2>/dev/null || fail "the asker did not wait: $(cat "$scratch/waiting")"
  read -rt 0.05 <> <(:) || true
done
exits 0 with_token sandbox-queue approve "$id"
says "The asker is waiting for it and runs it now."
wait "$asker" || fail "the waiting asker failed: $(cat "$scratch/waiting")"
[[ -e waited ]] || fail "the waiting asker did not run it"

exits 0 sandbox-queue clear --older-than 7d
says "Removed 0"
exits 0 sandbox-audit log --last 1
says "queue clear --older-than 7d"
exits 0 sandbox-queue clear --older-than 0s
exits 0 sandbox-queue list --status all
says_not "executed"
says "pending"
exits 1 sandbox-queue clear
exits 1 sandbox-queue watch </dev/null
says "needs a terminal"
exits 0 sandbox-audit verify
echo "queue: as promised"
