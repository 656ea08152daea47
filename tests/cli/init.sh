#!/usr/bin/env bash
# cordon init: fits the project, never overwrites, passes config check, and trusts only with presence.
# shellcheck source=common.sh
source "$(dirname "$0")/common.sh"
git init -q .
echo '{"name": "x", "scripts": {"test": "true"}}' >package.json
printf 'all:\n\ttrue\n' >Makefile
mkdir -p "$HOME/.cargo/bin"
echo token >"$HOME/.cargo/credentials.toml"

exits 0 cordon init --print
says "npm"
says "make"
[[ ! -e SANDBOX.md ]] || fail "--print wrote a file"

exits 0 cordon init </dev/null
says "not trusted yet"
exits 0 cordon config check
says_not "warning:"
cp SANDBOX.md "$scratch/before"
exits 1 cordon init </dev/null
says "exists already"
cmp -s SANDBOX.md "$scratch/before" || fail "init overwrote SANDBOX.md"

rm SANDBOX.md
CORDON_APPROVER_TOKEN=$(cordon approver init --unattended 2>/dev/null)
export CORDON_APPROVER_TOKEN
exits 0 cordon init --with-toolchains
says "Trusted."
exits 0 cordon config show --effective --origin
says_not "ignored"
says_not "untrusted"
says ".cargo/bin"
says_not ".cargo/credentials"

mkdir -p "$HOME/nothing" && cd "$HOME"
exits 126 cordon --workspace "$HOME" init
says "home"
echo "init: as promised"
