# What the checks on a booted machine share; sourced. A check is one line: ok, or FAILED and what was said.
failed=0
service=cellblock.service
socket=/run/cellblock/cellblock.sock

check() {  # NAME COMMAND...
  local name=$1
  shift
  if "$@" >/tmp/said 2>&1; then echo "ok      $name"; else
    echo "FAILED  $name"; sed 's/^/        | /' /tmp/said | tail -20; failed=1
  fi
}
not() { ! "$@"; }
eventually() {  # COMMAND...: true within some minutes
  local tries=0
  until "$@"; do tries=$((tries + 1)); [ $tries -lt 600 ] || return 1; sleep 0.2; done
}
is() { [ "$1" = "$2" ] || { echo "\"$1\" instead of \"$2\""; return 1; }; }
at_most() { [ "$1" -le "$2" ] || { echo "$1, which is more than $2"; return 1; }; }
more_than() { [ "$1" -gt "$2" ] || { echo "$1, which is not more than $2"; return 1; }; }
contains() { grep -qF -- "$2" <<<"$1" || { echo "no \"$2\" in: $1"; return 1; }; }

property() { systemctl show -P "$1" "$service"; }
main_pid() { property MainPID; }
launcher() { pgrep -P "$(main_pid)" -f '^cellblock-launcher'; }
as_tester() { runuser -u tester -- cellblock "$@"; }
call() { as_tester call everything echo --arg message="$1" --timeout 5m; }
answers() { call "$1" | grep -q "Echo: $1"; }
inode() { stat -c %i $socket; }
no_processes() { not pgrep -f 'cellblock-|server-everything'; }
another_process_serves() { [ "$(main_pid)" != "$1" ] && [ "$(main_pid)" != 0 ] && is "$(property ActiveState)" active; }
journal_has() { journalctl -q -u $service | grep -qF "$1"; }
replaced_after() {  # SIGNAL PID: systemd starts the service anew
  local before
  before=$(main_pid)
  kill -"$1" "$2" && eventually another_process_serves "$before"
}
drop_in() { mkdir -p "/run/systemd/system/$1.d"; printf '%s\n' "${@:2}" >"/run/systemd/system/$1.d/check.conf"; systemctl daemon-reload; }
no_drop_in() { rm -rf "/run/systemd/system/$1.d"; systemctl daemon-reload; }
own=/home/tester/project
declare_own_files() {
  chmod 0700 /home/tester
  runuser -u tester -- mkdir -m 0700 -p $own
  cat >/etc/cellblock/servers.d/files.toml <<TOML
[server.files]
command = ["/usr/bin/node", "/opt/mcp/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js", "$own"]
program = "/opt/mcp"
profile = "node"
write   = ["$own"]
start   = { handshake_timeout = "5m" }
allow   = { users = ["tester"], tools = ["*"] }
TOML
}
declare_everything() {
  cat >/etc/cellblock/servers.d/everything.toml <<'TOML'
[server.everything]
command = ["/usr/bin/node", "/opt/mcp/node_modules/@modelcontextprotocol/server-everything/dist/index.js", "stdio"]
program = "/opt/mcp"
profile = "node"
start   = { handshake_timeout = "5m" }
allow   = { users = ["tester"], tools = ["*"] }
TOML
}
