#!/usr/bin/env bash
# The manual page has every verb and no roff error.
# shellcheck source=common.sh
source "$(dirname "$0")/common.sh"

cordon manual >"$scratch/cordon.1"
grep -q '^\.TH CORDON 1' "$scratch/cordon.1" || fail "no title"
for verb in $(cordon --help | sed -n '/^Verbs:$/,$p' | sed -nE 's/^  ([a-z-]+) .*/\1/p'); do
  grep -q "^\.SS cordon $verb" "$scratch/cordon.1" || fail "no section for $verb"
done
if command -v groff >/dev/null; then
  warnings=$(groff -man -ww -Tutf8 "$scratch/cordon.1" 2>&1 >/dev/null)
  [[ -z $warnings ]] || fail "roff: $warnings"
fi
echo "manual: every verb is there"
