#!/bin/sh
# Sets the stage for bench_backends: an engine of its own with Cordon's image, and a state directory. Arguments are passed on.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
CORDON_BIN=$(cd "${CORDON_BIN:-$here/../build/release/bin}" && pwd)
export CORDON_BIN
CORDON_BENCH_STATE=$(mktemp -d -p /srv cordon-bench-XXXXXX)
export CORDON_BENCH_STATE
chmod 700 "$CORDON_BENCH_STATE"
status=0
python3 "$here/../tests/backends/engine.py" "$CORDON_BIN/bench_backends" "$@" || status=$?
rm -rf "$CORDON_BENCH_STATE"
exit "$status"
