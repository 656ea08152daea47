#!/bin/sh
# Sets the stage for bench_preview: an unprivileged user, in control groups that were handed to it.
# The bench program is $CORDON_BIN/bench_preview; arguments are passed on.
set -eu
bin=${CORDON_BIN:-$(dirname "$0")/../build/release/bin}
if [ "$(id -u)" -ne 0 ]; then
  exec "$bin/bench_preview" "$@"
fi
user=cordon-test
id "$user" >/dev/null 2>&1 || useradd --system --no-create-home --shell /usr/sbin/nologin "$user"
name=cordon-bench-$$
# Not in /tmp: a sandbox has one of its own.
place=$(mktemp -d -p /var/tmp)
chmod 755 "$place"
chown "$user" "$place"
cp "$bin/bench_preview" "$bin/cordon" "$place/"
for controller in memory pids cpu cpuacct; do
  [ -d "/sys/fs/cgroup/$controller" ] || continue
  mkdir "/sys/fs/cgroup/$controller/$name"
  chown -R "$user" "/sys/fs/cgroup/$controller/$name"
done
status=0
sh -c 'for c in memory pids cpu cpuacct; do [ ! -d "/sys/fs/cgroup/$c/$1" ] || echo $$ > "/sys/fs/cgroup/$c/$1/cgroup.procs"; done
  cd "$2"; shift 2; exec "$@"' sh "$name" "$place" env CORDON_BIN="$place" setpriv --reuid "$user" --regid "$user" --clear-groups "$place/bench_preview" "$@" || status=$?
for controller in memory pids cpu cpuacct; do
  rmdir "/sys/fs/cgroup/$controller/$name" 2>/dev/null || true
done
mkdir -p build/bench
cp "$place/build/bench/preview.json" build/bench/ 2>/dev/null || true
rm -rf "$place"
exit "$status"
