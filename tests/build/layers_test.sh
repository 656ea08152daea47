#!/usr/bin/env bash
# The layer check must be able to fail: plant wrong arrows in a copy and see that each is found.
set -euo pipefail
check=$CORDON_SOURCE/tests/build/layers.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

expect_complaint() { # NAME FILE LINE
  rm -rf "$scratch/src"
  cp -r "$CORDON_SOURCE/src" "$scratch/src"
  mkdir -p "$(dirname "$scratch/src/$2")"
  echo "$3" >>"$scratch/src/$2"
  if "$check" "$scratch/src" >"$scratch/out" 2>&1; then
    echo "not found: $1"
    exit 1
  fi
  grep -q "may not" "$scratch/out" || { echo "no reason given: $1"; exit 1; }
}
expect_complaint "base uses model" base/text.cc '#include "model/script.h"'
expect_complaint "sys uses model" sys/fd.h '#include "model/script.h"'
expect_complaint "shell uses risk" shell/planted.cc '#include "risk/analyse.h"'
expect_complaint "spaces in the directive" base/text.h '#  include   "sys/fd.h"'
expect_complaint "model depends on app" model/CMakeLists.txt 'cordon_layer(x DEPENDS app)'
echo "layers: every planted upward include was found"
