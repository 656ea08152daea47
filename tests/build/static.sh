#!/usr/bin/env bash
# Programs that are started where there may be no loader and no library have none to look for.
#   static.sh PROGRAM…
set -euo pipefail
wrong=0
for program in "$@"; do
  if readelf -lW "$program" | grep -q INTERP || readelf -dW "$program" | grep -q NEEDED; then
    echo "NO   $program is static"
    wrong=1
  elif ! readelf -hW "$program" | grep -q 'Type:.*DYN'; then
    echo "NO   $program is position independent"
    wrong=1
  else
    echo "yes  $program"
  fi
done
exit "$wrong"
