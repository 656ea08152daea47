#!/usr/bin/env bash
# A workspace file that was trusted and then changed: its additions are ignored, its tightenings count.
# shellcheck source=common.sh
source "$(dirname "$0")/common.sh"
git init -q .

cat >SANDBOX.md <<'TXT'
# Rules
## Allowed Commands
- make
## Disallowed Commands
- nc -l
TXT
exits 0 cordon config show --effective --origin
says "untrusted"
says "ignored: SANDBOX.md:3"
says "SANDBOX.md:5"

# Without presence nothing is trusted.
exits 126 cordon trust </dev/null
exits 126 cordon trust --yes </dev/null
token=$(cordon approver init --unattended 2>/dev/null)
CORDON_APPROVER_TOKEN=wrong exits 126 cordon trust --yes
export CORDON_APPROVER_TOKEN=$token
exits 0 cordon trust --yes
says "make"
says "trusted"
exits 0 cordon config show --effective --origin
says_not "ignored"

sed -i 's/^- make$/- make\n- rm/; s/^- nc -l$/- nc -l\n- eval/' SANDBOX.md
exits 0 cordon config show --effective --origin
says "SANDBOX.md can only tighten"
says "rm"
grep -E '^ignored: .*= rm' <<<"$output" >/dev/null || fail "the added '- rm' is not said to be ignored: $output"
grep -E '^policy.allowed.* = rm( |$)' <<<"$output" && fail "the added '- rm' counts: $output"
grep -E '^policy.disallowed.* = eval' <<<"$output" >/dev/null || fail "the added '- eval' does not count: $output"

unset CORDON_APPROVER_TOKEN
exits 126 cordon trust --yes
echo "trust: loosening needs a person, tightening does not"
