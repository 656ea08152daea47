#!/bin/sh
# Sets the stage for bench_http: the daemon as an unprivileged user in control groups that were handed to it, and beside
# it node's http server, which echoes. Both are asked by the same client over the same loopback.
set -eu
bin=$(realpath "${CORDON_BIN:-$(dirname "$0")/../build/release/bin}")
cmake --build "$bin/.." --target cordon cordon-runner bench_http >/dev/null
user=$(id -un)
place=$(mktemp -d)
groups=""
if [ "$(id -u)" -eq 0 ]; then
  user=cordon-test
  id "$user" >/dev/null 2>&1 || useradd --system --no-create-home --shell /usr/sbin/nologin "$user"
  groups=cordon-bench-$$
  for controller in memory pids cpu cpuacct; do
    [ -d "/sys/fs/cgroup/$controller" ] || continue
    mkdir "/sys/fs/cgroup/$controller/$groups"
    chown -R "$user" "/sys/fs/cgroup/$controller/$groups"
  done
fi
mkdir -p "$place/bin" "$place/libexec/cordon" "$place/work/.cordon" "$place/run"
cp "$bin/cordon" "$place/bin/"
cp "$bin/../libexec/cordon/"* "$place/libexec/cordon/"
cat >"$place/echo.js" <<'JS'
const server = require('http').createServer((request, response) => {
  const parts = []
  request.on('data', part => parts.push(part))
  request.on('end', () => {
    const body = Buffer.concat(parts)
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length })
    response.end(body)
  })
})
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
JS
chmod -R a+rX "$place"
[ "$(id -u)" -ne 0 ] || chown -R "$user" "$place"
export HOME="$place" CORDON_STATE_DIR="$place/state" XDG_RUNTIME_DIR="$place/run"

as_user() { # COMMAND…: in the control groups, as the user, in the workspace
  if [ -z "$groups" ]; then (cd "$place/work" && exec "$@"); return; fi
  sh -c 'for c in memory pids cpu cpuacct; do [ ! -d "/sys/fs/cgroup/$c/$1" ] || echo $$ > "/sys/fs/cgroup/$c/$1/cgroup.procs"; done
    cd "$2/work"; u=$3; shift 3; exec setpriv --reuid "$u" --regid "$u" --clear-groups "$@"' sh "$groups" "$place" "$user" "$@"
}
line_of() { # FILE PATTERN: waits for the line
  while ! grep -m1 "$2" "$1" 2>/dev/null; do sleep 0.05; done
}

CORDON_APPROVER_TOKEN=$(as_user "$place/bin/cordon" approver init --unattended --quiet)
export CORDON_APPROVER_TOKEN
token=$(as_user "$place/bin/cordon" token create --role agent --quiet)
unset CORDON_APPROVER_TOKEN
as_user "$place/bin/cordon" serve --listen 127.0.0.1:0 --rate 1000000 >"$place/serve.log" 2>&1 &
daemon=$!
node "$place/echo.js" >"$place/echo.log" &
echo_server=$!
port=$(line_of "$place/serve.log" 'HTTP on http:' | sed 's/.*://')
reference=$(line_of "$place/echo.log" '[0-9]')
status=0
CORDON_TOKEN=$token "$bin/bench_http" "$port" "$reference" "$@" || status=$?
kill "$echo_server"
[ -z "$groups" ] || daemon=$(head -n 1 "/sys/fs/cgroup/pids/$groups/cgroup.procs" 2>/dev/null || echo "$daemon")
kill "$daemon"
wait
for controller in memory pids cpu cpuacct; do
  [ -z "$groups" ] || rmdir "/sys/fs/cgroup/$controller/$groups" 2>/dev/null || true
done
rm -rf "$place"
exit "$status"
