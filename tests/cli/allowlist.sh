#!/usr/bin/env bash
# sandbox-allowlist: adding needs presence, removing does not; what is covered and what is not.
# shellcheck source=common.sh
source "$(dirname "$0")/common.sh"
git init -q .

exits 126 sandbox-allowlist add "cargo build" </dev/null
CORDON_APPROVER_TOKEN=$(cordon approver init --unattended 2>/dev/null)
export CORDON_APPROVER_TOKEN
exits 0 sandbox-allowlist add "cargo build" --reason "Safe build command"
exits 1 sandbox-allowlist add "cargo build"
says "already exists"
exits 1 sandbox-allowlist add "*"
exits 1 sandbox-allowlist add "make" --expires yesterday
exits 0 sandbox-allowlist add "rm -rf build" --expires 30d
exits 0 sandbox-allowlist list
says "cargo build  # Safe build command"
exits 0 sandbox-allowlist list --json
says '"auto_approve": true'

exits 0 sandbox-allowlist test "cargo build --release"
says '"matched": true'
exits 1 sandbox-allowlist test "cargo build; evil"
exits 1 sandbox-allowlist test "evil; cargo build"
exits 1 sandbox-allowlist test "cargo build > /etc/x"
exits 1 sandbox-allowlist test "./cargo build"
exits 1 sandbox-allowlist test "LD_PRELOAD=./x.so cargo build"
exits 1 sandbox-allowlist test 'cargo build $(rm -rf src)'
exits 0 sandbox-allowlist test "rm -rf build"
exits 1 sandbox-allowlist test "rm -rf build src"
exits 3 sandbox-check "rm -rf build"
says '"suggested_action": "execute"'

unset CORDON_APPROVER_TOKEN
exits 0 sandbox-allowlist remove "rm -rf build"
exits 1 sandbox-allowlist remove "rm -rf build"
exits 1 sandbox-allowlist test "rm -rf build"
echo "allowlist: as promised"
