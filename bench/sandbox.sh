#!/bin/sh
# Sets the stage for bench_sandbox: an unprivileged user, in control groups that were handed to it.
# The bench program is $CORDON_BIN/bench_sandbox; arguments are passed on.
set -eu
bin=${CORDON_BIN:-$(dirname "$0")/../build/release/bin}
if [ "$(id -u)" -ne 0 ]; then
  exec "$bin/bench_sandbox" "$@"
fi
user=cordon-test
id "$user" >/dev/null 2>&1 || useradd --system --no-create-home --shell /usr/sbin/nologin "$user"
name=cordon-bench-$$
place=$(mktemp -d)
chmod 755 "$place"
cp "$bin/bench_sandbox" "$place/"
for controller in memory pids cpu cpuacct; do
  [ -d "/sys/fs/cgroup/$controller" ] || continue
  mkdir "/sys/fs/cgroup/$controller/$name"
  chown -R "$user" "/sys/fs/cgroup/$controller/$name"
done
[ -z "${CORDON_BENCH_JSON:-}" ] || { : > "$CORDON_BENCH_JSON"; chown "$user" "$CORDON_BENCH_JSON"; }
status=0
sh -c 'for c in memory pids cpu cpuacct; do [ ! -d "/sys/fs/cgroup/$c/$1" ] || echo $$ > "/sys/fs/cgroup/$c/$1/cgroup.procs"; done
  shift; exec "$@"' sh "$name" setpriv --reuid "$user" --regid "$user" --clear-groups "$place/bench_sandbox" "$@" || status=$?
for controller in memory pids cpu cpuacct; do
  rmdir "/sys/fs/cgroup/$controller/$name" 2>/dev/null || true
done
rm -rf "$place"
exit "$status"
