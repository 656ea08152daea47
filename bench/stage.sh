#!/bin/sh
# stage.sh NAME ARGS…: sets the stage for bench_NAME: an unprivileged user, in control groups that were handed to it, with
# the programs where an installation has them. Arguments are passed on.
set -eu
bench=bench_$1
json=$1.json
shift
bin=${CORDON_BIN:-$(dirname "$0")/../build/release/bin}
cmake --build "$bin/.." --target cordon sandbox-exec >/dev/null
if [ "$(id -u)" -ne 0 ]; then
  CORDON_STATE_DIR=$(mktemp -d)
  export CORDON_STATE_DIR XDG_RUNTIME_DIR="$CORDON_STATE_DIR"
  exec "$bin/$bench" "$@"
fi
user=cordon-test
id "$user" >/dev/null 2>&1 || useradd --system --no-create-home --shell /usr/sbin/nologin "$user"
name=cordon-bench-$$
place=$(mktemp -d)
mkdir -p "$place/bin" "$place/libexec/cordon"
cp "$bin/$bench" "$bin/cordon" "$bin/sandbox-exec" "$place/bin/"
cp "$bin/../libexec/cordon/"* "$place/libexec/cordon/"
chmod -R a+rX "$place"
chown "$user" "$place"
for controller in memory pids cpu cpuacct; do
  [ -d "/sys/fs/cgroup/$controller" ] || continue
  mkdir "/sys/fs/cgroup/$controller/$name"
  chown -R "$user" "/sys/fs/cgroup/$controller/$name"
done
status=0
sh -c 'for c in memory pids cpu cpuacct; do [ ! -d "/sys/fs/cgroup/$c/$1" ] || echo $$ > "/sys/fs/cgroup/$c/$1/cgroup.procs"; done
  cd "$2"; shift 2; exec "$@"' sh "$name" "$place" \
  env HOME="$place" CORDON_STATE_DIR="$place/state" XDG_RUNTIME_DIR="$place" \
  setpriv --reuid "$user" --regid "$user" --clear-groups "$place/bin/$bench" "$@" || status=$?
for controller in memory pids cpu cpuacct; do
  rmdir "/sys/fs/cgroup/$controller/$name" 2>/dev/null || true
done
mkdir -p build/bench
cp "$place/build/bench/$json" build/bench/ 2>/dev/null || true
rm -rf "$place"
exit "$status"
