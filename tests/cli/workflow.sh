#!/usr/bin/env bash
# The example workflow, typed as a new user would: check, dry run, exec → queued, list, approve → runs, log, stats,
# export, allowlist add → runs without asking.
# shellcheck source=common.sh
source "$(dirname "$0")/common.sh"
git init -q .
mkdir -p node_modules/express && echo '{}' >node_modules/express/package.json
CORDON_APPROVER_TOKEN=$(cordon approver init --unattended 2>/dev/null)
token=$CORDON_APPROVER_TOKEN
unset CORDON_APPROVER_TOKEN

# 1. Is it safe?
exits 3 sandbox-check "rm -rf node_modules"
says '"risk_level": "dangerous"'
says '"requires_approval": true'

# 2. What would happen?
exits 0 sandbox-exec --dry-run "rm -rf node_modules"
says "would wait for approval"
says "deletes $PWD/node_modules"
[[ -d node_modules ]] || fail "a dry run changed something"

# 3. For real: it waits.
exits 75 sandbox-exec "rm -rf node_modules" </dev/null
id=$(grep -oE 'cmd_[a-z0-9]+' <<<"$output" | head -1)
[[ -d node_modules ]] || fail "it ran without approval"
exits 0 sandbox-queue list
says "$id"
says "rm -rf node_modules"
exits 0 sandbox-queue show "$id"
says "Recursive deletion"

# 4. An agent cannot approve, a person can; it runs, once.
exits 126 sandbox-queue approve "$id" </dev/null
[[ -d node_modules ]] || fail "it ran without a person"
CORDON_APPROVER_TOKEN=$token exits 0 sandbox-queue approve "$id" --by ann@example.com --notes "clean build"
[[ ! -e node_modules ]] || fail "approved, but not run"
CORDON_APPROVER_TOKEN=$token exits 1 sandbox-queue approve "$id"
says "Command is already executed"
exits 1 sandbox-queue show cmd_doesnotexist
says "Command not found in queue"

# 5. Rejected means no.
exits 75 sandbox-exec "rm -rf .git" </dev/null
id=$(grep -oE 'cmd_[a-z0-9]+' <<<"$output" | head -1)
exits 0 sandbox-queue reject "$id" --reason "Too risky"
[[ -d .git ]] || fail "rejected, but run"
exits 126 sandbox-exec --approval "$id" "rm -rf .git" </dev/null
says "already rejected"

# 6. The log tells all of it.
exits 0 sandbox-audit log --last 20
says "rm -rf node_modules"
exits 0 sandbox-audit log --risk-level dangerous
exits 0 sandbox-audit stats --json
says '"total_commands"'
exits 0 sandbox-audit export --format json --output "$scratch/audit.json"
python3 -c 'import json,sys; json.load(open(sys.argv[1]))' "$scratch/audit.json"
exits 0 sandbox-audit verify

# 7. What is listed runs without asking.
mkdir -p build
exits 75 sandbox-exec "rm -rf build" </dev/null
CORDON_APPROVER_TOKEN=$token exits 0 sandbox-allowlist add "rm -rf build" --reason "Cleans the build"
exits 0 sandbox-exec "rm -rf build" </dev/null
[[ ! -e build ]] || fail "listed, but not run"
exits 0 sandbox-queue clear --older-than 7d
echo "workflow: as promised"
