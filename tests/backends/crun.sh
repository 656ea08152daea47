#!/bin/sh
# Runs a command where crun works: it refuses a machine that has control groups of both versions at once, if version 2
# has a controller (and says so; Cordon takes runc there). For the command that hierarchy is not there; the machine keeps it.
command -v crun >/dev/null || {
  echo "skipped: there is no crun; apt install crun"
  exit 77
}
unified=/sys/fs/cgroup/unified
grep -q . $unified/cgroup.controllers 2>/dev/null || exec "$@"
[ "$(id -u)" = 0 ] || {
  echo "skipped: crun refuses control groups of both versions at once; run this test as root, or on a machine with one"
  exit 77
}
# shellcheck disable=SC2016 # for the inner shell
exec unshare --mount --propagation private sh -c 'umount -l "$0" && exec "$@"' $unified "$@"
