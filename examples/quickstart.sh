#!/usr/bin/env bash
# From a fresh Debian 12 to a real MCP server in a cell: installs what is missing, builds cellblock,
# serves @modelcontextprotocol/server-filesystem through it, and leaves nothing behind but the build.
# As root cellblock runs for the whole system; as an ordinary user (with sudo for missing packages)
# it runs rootless.
set -euo pipefail
cd "$(dirname "$0")/.."
umask 022

server_version=2026.8.31
daemon_id=64001  # numeric ids, so that no account has to be made
host_id=64101

# --- telling ------------------------------------------------------------------------------------------

if [ -t 1 ]; then bold=$'\e[1m' dim=$'\e[2m' plain=$'\e[0m'; else bold='' dim='' plain=''; fi
chapter() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
tell() { printf '%s\n' "$*"; }
indented() { cut -c1-110 | sed 's/^/    /'; }
fail() { printf '\nquickstart: %s\n' "$*" >&2; exit 1; }

# show COMMAND...: prints what is typed, then what it says.
show() {
  printf '%s  $ cellblock %s%s\n' "$dim" "$*" "$plain"
  as_host cellblock "$@" 2>&1 | indented
}

# show_refusal STATUS WORDS COMMAND...: the same for what must fail, in this way and no other.
show_refusal() {
  local expected=$1 words=$2 status=0
  shift 2
  printf '%s  $ cellblock %s%s\n' "$dim" "$*" "$plain"
  as_host cellblock "$@" >"$work/said" 2>&1 || status=$?
  indented <"$work/said"
  [ "$status" -eq "$expected" ] || fail "this should have ended with status $expected, not $status"
  grep -q "$words" "$work/said" || fail "this should have said: $words"
}

# --- two ways to run ----------------------------------------------------------------------------------

if [ "$(id -u)" -eq 0 ]; then
  parent=/var/lib
  allowed=$host_id
  # The host program is nobody special: an id without any privilege.
  as_host() { CELLBLOCK_SOCKET=$socket setpriv --reuid $host_id --regid $host_id --clear-groups -- "$work/bin/$1" "${@:2}"; }
else
  parent=${XDG_CACHE_HOME:-$HOME/.cache}
  allowed=$(id -u)
  as_host() { CELLBLOCK_SOCKET=$socket "$work/bin/$1" "${@:2}"; }
fi

# Without root, what cells left behind belongs to ids that /etc/subuid gives this user.
remove() { rm -rf "$1" 2>/dev/null || unshare --user --map-root-user --map-auto rm -rf "$1"; }

daemon='' work=''
clean_up() {
  if [ -n "$daemon" ]; then kill "$daemon" 2>/dev/null && wait "$daemon" || true; fi
  if [ -n "$work" ]; then remove "$work"; fi
}
trap clean_up EXIT

# --- 1 ------------------------------------------------------------------------------------------------

chapter "1. Packages"
tests/install_packages.sh demo

chapter "2. Build (a few minutes the first time)"
cmake --preset release -DCELLBLOCK_TESTS=OFF >/dev/null
cmake --build --preset release

# Not /tmp: what a daemon trusts must lie where nobody else can write.
mkdir -p "$parent"
work=$(mktemp -d "$parent/cellblock-quickstart.XXXXXX")
chmod 0755 "$work"
socket=$work/run/cellblock.sock
mkdir -p "$work/bin" "$work/mcp" "$work/project"
cp build/release/bin/cellblock* build/release/bin/libcellblock-client.so* "$work/bin/"

chapter "3. The server: @modelcontextprotocol/server-filesystem $server_version from npm"
npm install --prefix "$work/mcp" --no-audit --no-fund --loglevel=error \
  "@modelcontextprotocol/server-filesystem@$server_version"
server=$work/mcp/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js
node=$(readlink -f "$(command -v node)")

# --- 2 ------------------------------------------------------------------------------------------------

chapter "4. A directory to show, and a file beside it to hide"
echo "The cell can see this." >"$work/project/notes.txt"
echo "The cell must never see this." >"$work/hidden.txt"
tell "  $work/project/notes.txt   shown, as /data/notes.txt"
tell "  $work/hidden.txt          hidden, though every user of this machine may read it"

# "curious" is the same server, told that it may serve everything: what it cannot reach then is not
# held back by its own good will.
cat >"$work/cellblock.toml" <<TOML
[socket]
path = "$socket"
$(if [ "$(id -u)" -eq 0 ]; then echo "group = $host_id  # who may connect"; fi)

[daemon]
$(if [ "$(id -u)" -eq 0 ]; then echo "user = $daemon_id"; echo "group = $daemon_id"; fi)
state_directory = "$work/state"
audit_log = "$work/audit.log"

[server.files]
command = ["$node", "$server", "/data"]
read    = ["$work/mcp", "$work/project:/data"]
profile = "node"
allow   = { users = [$allowed], tools = ["read_*", "list_*"] }

[server.curious]
command = ["$node", "$server", "/"]
read    = ["$work/mcp", "$work/project:/data"]
profile = "node"
allow   = { users = [$allowed], tools = ["read_*", "list_*"] }
TOML
tell "  $work/cellblock.toml:"
sed -n '/^\[server.files\]/,/^allow/p' "$work/cellblock.toml" | sed 's/^/    /'

chapter "5. cellblockd"
if [ "$(id -u)" -eq 0 ]; then mode=(); else mode=(--user); fi
mkfifo "$work/log"
"$work/bin/cellblockd" --config "$work/cellblock.toml" "${mode[@]}" 2>"$work/log" &
daemon=$!
exec 3<"$work/log"
ready=no
while read -r -t 30 line <&3; do
  tell "  $line"
  case "$line" in *"ready on"*) ready=yes; break ;; esac
done
[ "$ready" = yes ] || fail "cellblockd did not get ready"
# Whatever it says from here on is shown as it comes.
sed -u 's/^/  /' <&3 &

# --- 3 ------------------------------------------------------------------------------------------------

chapter "6. Its tools, through the socket, as an ordinary user"
show tools files
show call files list_directory --arg path=/data
show call files read_text_file --arg path=/data/notes.txt

chapter "7. Outside that directory"
tell "  The server's own rule, which one has to trust:"
show_refusal 3 "Access denied" call files read_text_file --arg path="$work/hidden.txt"
tell "  The same server told to serve /. Its rule allows it, and there is nothing to read:"
show_refusal 3 ENOENT call curious read_text_file --arg path="$work/hidden.txt"
show_refusal 3 ENOENT call curious read_text_file --arg path=/etc/shadow
tell "  This is all of its world:"
show call curious list_directory --arg path=/
tell "  A tool that the configuration does not allow does not exist:"
show_refusal 4 "Unknown tool" call files write_file --arg path=/data/new.txt --arg content=hello

chapter "8. What runs, and what each weakening is"
show status

chapter "9. The end"
kill "$daemon"
wait "$daemon" || fail "cellblockd ended with status $?"
daemon=''
[ ! -e "$socket" ] || fail "the socket was left behind"
tell "  Everything has ended, and nothing is left but the build."
tell "  Next: README.md, docs/configuration.md, and tests/run.sh."
