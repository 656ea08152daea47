#!/usr/bin/env bash
# The two commands of the README on a Debian 12 with nothing but git and a shell, as root and as a user with sudo.
# Needs root and debootstrap; takes long, so it runs in ./dev test --deep only. On a busy machine:
#   CORDON_FRESH_TEST="somebody"   who runs ./dev test after ./dev run version (default: somebody root)
#   CORDON_FRESH_CCACHE=DIR        a cache of what was compiled before, to begin with and to leave the rest in
set -euo pipefail
((EUID == 0)) || { echo "skipped: needs root to make a root file system"; exit 77; }
command -v debootstrap >/dev/null || { echo "skipped: needs debootstrap"; exit 77; }
# Its mounts live in a namespace of their own: whatever happens, the machine's /dev is not below a directory we remove.
if [[ ${CORDON_FRESH_PRIVATE:-} != 1 ]]; then CORDON_FRESH_PRIVATE=1 exec unshare --mount --propagation private "$0" "$@"; fi
source_dir=${CORDON_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
root=$(mktemp -d /var/tmp/cordon-fresh-XXXXXX)
chmod 755 "$root"
mount --bind "$root" "$root" # a mount of its own, which pivot_root needs
cleanup() {
  umount -R "$root" 2>/dev/null || true
  if grep -q " ${root}[/ ]" /proc/self/mounts; then return; fi
  rm -rf --one-file-system "$root" "$root.log"
}
trap cleanup EXIT

# The machine's own mirror and npm settings: no host name is known here.
mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list 2>/dev/null |
  sed -nE 's/^URIs: *([^ ]+).*/\1/p; s/^deb (\[[^]]*\] )?([^ ]+) .*/\2/p' | head -1 || true)
debootstrap --variant=minbase --include=git,sudo,ca-certificates bookworm "$root" "$mirror" >"$root.log" 2>&1 ||
  { tail "$root.log"; echo "skipped: debootstrap could not make a root"; exit 77; }
cp -r /etc/apt/. "$root/etc/apt/"
cp /etc/resolv.conf /etc/hosts "$root/etc/"
cp -r /etc/ssl/certs/. "$root/etc/ssl/certs/" 2>/dev/null || true
for file in /etc/npmrc /usr/etc/npmrc /root/.npmrc; do
  [[ -f $file ]] && mkdir -p "$root$(dirname "$file")" && cp "$file" "$root$file"
done
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev" && mount --make-rslave "$root/dev"
mount --rbind /sys "$root/sys" && mount --make-rslave "$root/sys"
git clone -q "$source_dir" "$root/srv/cordon-root"
git clone -q "$source_dir" "$root/srv/cordon-somebody"

settings=(PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb LANG=C.UTF-8)
[[ -n ${http_proxy:-} ]] && settings+=(http_proxy="$http_proxy")
[[ -n ${https_proxy:-} ]] && settings+=(https_proxy="$https_proxy")
# What the first user compiled need not be compiled for the second.
settings+=(CCACHE_DIR=/srv/ccache CCACHE_BASEDIR=/srv CCACHE_NOHASHDIR=1 CCACHE_UMASK=000)
install -d -m 1777 "$root/srv/ccache"
share_cache() { # FROM TO
  [[ -z ${CORDON_FRESH_CCACHE:-} ]] || { cp -rn "$1/." "$2/" && chmod -R a+rwX "$2"; } || true
}
share_cache "${CORDON_FRESH_CCACHE:-}" "$root/srv/ccache"
mkdir "$root/host"
inside() { # USER ARGS…: ./dev ARGS… in the user's clone, as the only thing typed
  local user=$1 as=()
  shift
  echo "== as $user: ./dev $*"
  [[ $user == root ]] || as=(setpriv --reuid 1000 --regid 1000 --init-groups)
  # No chroot: in one, the kernel makes no user namespaces, and a machine is not one.
  # shellcheck disable=SC2016 # expanded in there
  unshare --mount --propagation private sh -c 'cd "$0" && pivot_root . host && umount -l /host && exec "$@"' "$root" \
    env -i "${settings[@]}" HOME="$(chroot "$root" sh -c "echo ~$user")" USER="$user" "${as[@]}" \
    sh -c 'cd "/srv/cordon-$0" && ./dev "$@"' "$user" "$@" </dev/null
}
chroot "$root" useradd -m -s /bin/bash somebody
echo 'somebody ALL=(ALL) NOPASSWD: ALL' >"$root/etc/sudoers.d/somebody"
[[ -f $root/root/.npmrc ]] && install -o 1000 -g 1000 "$root/root/.npmrc" "$root/home/somebody/.npmrc"
chroot "$root" chown -R somebody: /srv/cordon-somebody

for user in somebody root; do inside "$user" run version; done
for user in ${CORDON_FRESH_TEST-somebody root}; do
  inside "$user" test
  share_cache "$root/srv/ccache" "${CORDON_FRESH_CCACHE:-}"
done
echo "fresh machine: both commands work"
