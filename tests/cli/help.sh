#!/usr/bin/env bash
# Every verb and every part of a verb explains itself; wrong usage is one sentence, exit 1, and says where to look.
# shellcheck source=common.sh
source "$(dirname "$0")/common.sh"

walk() { # PATH…
  exits 0 cordon "$@" --help
  says "Usage: "
  local verb
  local verbs
  mapfile -t verbs < <(sed -n "/^Verbs:\$/,\$p" <<<"$output" | sed -nE "s/^  ([a-z-]+) .*/\1/p")
  if ((${#verbs[@]} > 0)); then
    says " VERB"
  else
    says "Example:"
  fi
  for verb in "${verbs[@]}"; do walk "$@" "$verb"; done
}
walk
exits 0 cordon --help
count=$(sed -n '/^Verbs:$/,$p' <<<"$output" | grep -cE '^  [a-z]')
((count >= 8)) || fail "only $count verbs are listed"

exits 1 cordon
says "Verbs:"
exits 1 cordon chekc ls
says "Did you mean 'cordon check'?"
exits 1 cordon config
says "--help"
exits 1 cordon version --nonsense
says "--nonsense"
exits 0 cordon version
says "cordon "
exits 0 cordon --json version
says '"version"'
exits 0 cordon version --json
says '"version"'
echo "help: every verb explains itself"
