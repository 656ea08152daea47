# shellcheck shell=bash
# For the tests of the command line: a scratch home, state and workspace; small claims.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export HOME=$scratch/home CORDON_STATE_DIR=$scratch/state PATH=$CORDON_BIN:$PATH NO_COLOR=1
unset XDG_STATE_HOME XDG_CONFIG_HOME CORDON_AGENT CORDON_APPROVER_TOKEN
mkdir -p "$HOME" "$scratch/work"
cd "$scratch/work"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}
# exits CODE COMMAND…: the command ends with that code; its output is in $output
exits() {
  local expected=$1 status=0
  shift
  output=$("$@" 2>&1) || status=$?
  [[ $status == "$expected" ]] || fail "exit $status, not $expected: $*"$'\n'"$output"
}
says() { grep -qF -- "$1" <<<"$output" || fail "does not say '$1':"$'\n'"$output"; }
says_not() { ! grep -qF -- "$1" <<<"$output" || fail "says '$1':"$'\n'"$output"; }
