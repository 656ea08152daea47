#!/usr/bin/env bash
# The two commands of the README on a Debian 12 with nothing but git and a shell, as root and as a user with sudo.
#   fresh_machine.sh [--keep DIR]     needs root and debootstrap; takes long, so it runs in ./dev test --deep only
set -euo pipefail
((EUID == 0)) || { echo "skipped: needs root to make a root file system"; exit 77; }
command -v debootstrap >/dev/null || { echo "skipped: needs debootstrap"; exit 77; }
# Its mounts live in a namespace of their own: whatever happens, the machine's /dev is not below a directory we remove.
if [[ ${CORDON_FRESH_PRIVATE:-} != 1 ]]; then CORDON_FRESH_PRIVATE=1 exec unshare --mount --propagation private "$0" "$@"; fi
source_dir=${CORDON_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
root=$(mktemp -d /var/tmp/cordon-fresh-XXXXXX)
chmod 755 "$root"
cleanup() {
  local mount
  for mount in proc dev sys; do umount -R "$root/$mount" 2>/dev/null || true; done
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
git clone -q "$source_dir" "$root/srv/cordon-user"

inside() { # USER COMMAND
  chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME="$1" TERM=dumb \
    ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} "${@:2}"
}
chroot "$root" useradd -m -s /bin/bash somebody
echo 'somebody ALL=(ALL) NOPASSWD: ALL' >"$root/etc/sudoers.d/somebody"
[[ -f $root/root/.npmrc ]] && install -o 1000 -g 1000 "$root/root/.npmrc" "$root/home/somebody/.npmrc"
chroot "$root" chown -R somebody: /srv/cordon-user

echo "== as a user with sudo: ./dev run version"
inside /home/somebody setpriv --reuid 1000 --regid 1000 --init-groups bash -c 'cd /srv/cordon-user && ./dev run version'
echo "== as root: ./dev run version"
inside /root bash -c 'cd /srv/cordon-root && ./dev run version'
if [[ ${1:-} != --quick ]]; then
  echo "== as root: ./dev test"
  inside /root bash -c 'cd /srv/cordon-root && ./dev test'
fi
echo "fresh machine: both commands work"
