#!/bin/bash
# cellblock in containers, the three ways of docs/containers.md, with Podman: tests/containers/run.sh BUILD_DIR
# As root, with podman, mmdebstrap and dpkg-dev; BUILD_DIR configured with CMAKE_INSTALL_PREFIX=/usr and built.
# One line a check. Exit status: 0 nothing failed, 1 something did, 77 this machine cannot run it (it says why).
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?usage: run.sh BUILD_DIR}" && pwd)
source=$here/../..
. "$here/../system/debian_packages.sh"

skip() { echo "skipped: $*"; exit 77; }
[ "$(id -u)" = 0 ] || skip "needs root"
for tool in podman mmdebstrap dpkg-deb cpack; do command -v "$tool" >/dev/null || skip "needs $tool"; done
[ -e "$build/CPackConfig.cmake" ] || skip "$build is not configured with CMAKE_INSTALL_PREFIX=/usr"
servers=$source/tests/fixtures/node_modules
[ -d "$servers/@modelcontextprotocol/server-filesystem" ] || skip "tests/fixtures/install.sh has not run"

work=$(mktemp -d -p /var/lib cellblock-containers.XXXXXX)  # /tmp of a cell is its own
chmod 755 "$work"
runtime=()
podman() {
  command podman --storage-driver vfs --root "$work/root" --runroot "$work/run" --cgroup-manager cgroupfs \
    --log-level error "${runtime[@]}" "$@"
}
daemon=
finish() {
  set +e
  [ -z "$daemon" ] || { kill "$daemon"; wait "$daemon"; }
  podman rm --force --all --time 5 >/dev/null 2>&1
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 143' TERM INT HUP

failed=0
# check WHAT COMMAND...: WHAT is a sentence that is true when COMMAND succeeds.
check() {
  local what=$1
  shift
  if "$@" >"$work/said" 2>&1; then echo "ok    $what"; else
    echo "FAIL  $what"; sed 's/^/      /' "$work/said" | tail -12; failed=1
  fi
}
says() {  # TEXT COMMAND...
  local text=$1 said
  shift
  said=$("$@" 2>&1)
  echo "$said"
  grep -q -- "$text" <<<"$said"
}

# The images, from the packages of this build and the root file system of tests/system.
cache=${CELLBLOCK_SYSTEM_CACHE:-$build/system}
base=$cache/root-$(printf '%s' "$packages" | sha256sum | cut -c1-12).tar
[ -e "$base" ] || skip "no $base: tests/system/run.sh makes it"
"$here/../system/packages.sh" "$build" "$work/made" || exit 1
mkdir "$work/context"
cp "$work"/made/packages/*.deb "$source"/packaging/container/* "$work/context/"
# Engines that refuse this machine's control groups or limits at once are no use.
limits=(--network none --ulimit nofile=1024:1024 --ulimit nproc=4096:4096)
podman import --quiet "$base" localhost/base >/dev/null || skip "podman cannot keep images here"
for name in crun runc; do
  runtime=(--runtime "$name")
  podman run --rm "${limits[@]}" localhost/base true >/dev/null 2>&1 && break
  runtime=()
done
[ ${#runtime[@]} -gt 0 ] || skip "podman can run nothing here"
make_image() {
  podman build --isolation chroot --build-arg BASE=localhost/base --build-arg PREPARE=true \
    -f "$work/context/$1" -t "localhost/$2" "$work/context"
}
check "the image of the daemon is made of the packages" make_image Containerfile cellblock
check "the image of the command is made of the packages" make_image Containerfile.client cellblock-client

profile=$work/seccomp.json
check "a profile of system calls is made of Podman's" \
  sh -c "'$source/packaging/container/seccomp_profile.py' /usr/share/containers/seccomp.json >'$profile'"
cells=(--security-opt unmask=ALL --security-opt "seccomp=$profile")
mkdir "$work/etc" "$work/socket" "$work/projects" "$work/projects/one"
project=$work/projects/one
chown 1000:1000 "$project"
cat >"$work/etc/cellblock.toml" <<TOML
[socket]
mode = "0666"

[server.files]
command = ["/usr/bin/node", "/opt/servers/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js", "/srv/project"]
profile = "node"
read = ["/opt/servers"]
write = ["/srv/project"]
run_as = "client"
allow = { users = [1000], tools = ["*"] }

[server.all]
command = ["/usr/bin/node", "/opt/servers/node_modules/@modelcontextprotocol/server-everything/dist/index.js"]
profile = "node"
read = ["/opt/servers"]
allow = { users = [1000, 101000], tools = ["*"] }
TOML
mounts=(-v "$work/etc:/etc/cellblock:ro" -v "$work/socket:/run/cellblock" -v "$project:/srv/project"
        -v "$servers:/opt/servers/node_modules:ro")

echo "-- a daemon beside its agents"
check "doctor says what a container without these flags keeps from cells" \
  says "unmask=ALL" podman run --rm "${limits[@]}" --entrypoint cellblock localhost/cellblock doctor
check "doctor makes a cell in a container with them, which has no capability over the host" \
  says "ok  *a cell" podman run --rm "${limits[@]}" "${cells[@]}" --entrypoint cellblock localhost/cellblock doctor
check "the daemon starts as the first process of its container" \
  podman run --detach --name daemon "${limits[@]}" "${cells[@]}" "${mounts[@]}" localhost/cellblock
for _ in $(seq 100); do [ -S "$work/socket/cellblock.sock" ] && break; sleep 0.1; done
agent() { podman run --rm "${limits[@]}" -v "$work/socket:/run/cellblock" "$@"; }
check "an agent in another container calls a tool by the shared socket" \
  agent --user 1000 localhost/cellblock-client call files write_file path=/srv/project/note content=kept
check "what the tool wrote belongs to the agent's user" test "$(stat -c %u "$project/note" 2>/dev/null)" = 1000
check "an agent whose container has user ids of its own is known by its id on the host" \
  agent --uidmap 0:100000:65536 --gidmap 0:100000:65536 --user 1000 localhost/cellblock-client call all echo message=heard
check "root of such a container is no administrator, and may use no server" \
  says "may use no server" agent --uidmap 0:100000:65536 --gidmap 0:100000:65536 localhost/cellblock-client tools all
check "a user that is not named may use no server" says "may use no server" agent --user 1001 localhost/cellblock-client tools all
check "the cell passes its own attack set inside of the container" \
  podman exec --user 1000 daemon cellblock explain files --prove
check "the daemon stops when its container is stopped" podman stop --time 10 daemon
check "and says so in the container's log" says stopping podman logs daemon
podman rm daemon >/dev/null

echo "-- both with user ids of their own"
mkdir "$work/own"
{ printf '[daemon]\nid_range = { first = 32768, count = 16384 }\n\n'; sed 's/\[1000, 101000\]/[1000]/' "$work/etc/cellblock.toml"; } >"$work/own/cellblock.toml"
chown -R 200000:200000 "$work/own" "$work/socket"
map=(--uidmap 0:200000:65536 --gidmap 0:200000:65536)
check "cellblockd names the ids that there are for cells" \
  says "which has 0 to 65535" podman run --rm "${limits[@]}" "${cells[@]}" "${map[@]}" localhost/cellblock
check "the daemon starts with ids of its container" \
  podman run --detach --name own "${limits[@]}" "${cells[@]}" "${map[@]}" -v "$work/own:/etc/cellblock:ro" \
  -v "$work/socket:/run/cellblock" -v "$servers:/opt/servers/node_modules:ro" localhost/cellblock
for _ in $(seq 100); do [ -S "$work/socket/cellblock.sock" ] && break; sleep 0.1; done
check "an agent with the same ids calls a tool" \
  agent "${map[@]}" --user 1000 localhost/cellblock-client call all echo message=heard
check "one with other ids is nobody to it" says "may use no server" agent --uidmap 0:300000:65536 --gidmap 0:300000:65536 --user 1000 \
  localhost/cellblock-client call all echo message=heard
check "root of that container changes no setting of the host, although nothing of /proc is covered" \
  says "Permission denied" podman exec own sh -c 'echo x >/proc/sys/kernel/core_pattern'
check "its cells pass their own attack set" podman exec --user 1000 own cellblock explain all --prove
podman rm --force --time 10 own >/dev/null 2>&1

echo "-- a daemon on the host"
mkdir "$work/host" "$work/state"
sed -e "s|/opt/servers/node_modules|$servers|; s|\"/opt/servers\"|\"$(readlink -f "$servers")\"|; s|/srv/project|$project|g" \
  "$work/etc/cellblock.toml" >"$work/host.toml"
cat >>"$work/host.toml" <<TOML
workspace = { allow = ["$work/projects/**"] }

[daemon]
state_directory = "$work/state/cellblock"
audit_log = "$work/state/audit.jsonl"
user = "daemon"
TOML
chown daemon "$work/host" "$work/state"
"$build/bin/cellblockd" --config "$work/host.toml" --socket "$work/host/cellblock.sock" >"$work/log" 2>&1 &
daemon=$!
for _ in $(seq 100); do [ -S "$work/host/cellblock.sock" ] && break; sleep 0.1; done
inside() { podman run --rm "${limits[@]}" -v "$work/host:/run/cellblock" -v "$project:/work" "$@"; }
check "an agent's container has nothing but the socket of the host's daemon" \
  inside --user 1000 localhost/cellblock-client call files read_text_file "path=$project/note"
check "its user is the one of the host's kernel" \
  says '"uid": *1000' "$build/bin/cellblock" --socket "$work/host/cellblock.sock" --json status
work_in() {  # the agent's place of the directory
  podman run --rm "${limits[@]}" -v "$work/host:/run/cellblock" -v "$project:$1" --user 1000 \
    localhost/cellblock-client call all echo message=heard --workspace "$1"
}
check "a directory that has the same path in the agent's container is a workspace of the host's cell" work_in "$project"
check "one that has another path there is refused" says "workspace is not a directory" work_in /work
kill "$daemon"
wait "$daemon"
daemon=

echo "-- a daemon inside of a development container"
cat >"$work/dev.sh" <<'DEV'
set -e
export XDG_RUNTIME_DIR=/tmp/run HOME=/srv/home
mkdir -p "$XDG_RUNTIME_DIR" "$HOME/.config/cellblock" "$HOME/project"
chmod 700 "$XDG_RUNTIME_DIR"
cat >"$HOME/.config/cellblock/cellblock.toml" <<TOML
[server.files]
command = ["/usr/bin/node", "/opt/servers/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js", "$HOME/project"]
profile = "node"
read = ["/opt/servers"]
write = ["$HOME/project"]
allow = { users = [$(id -u)], tools = ["*"] }
TOML
cellblockd --user &
daemon=$!
for _ in $(seq 100); do [ -S "$XDG_RUNTIME_DIR/cellblock/cellblock.sock" ] && break; sleep 0.1; done
cellblock --user call files write_file "path=$HOME/project/note" content=kept
cellblock --user explain files --prove
grep -q kept "$HOME/project/note"
kill $daemon
wait $daemon
DEV
mkdir "$work/home"
develop() {  # UID [podman's options]
  chown -R "${1%:*}" "$work/home"
  podman run --rm "${limits[@]}" "${cells[@]}" -v "$work/dev.sh:/dev.sh:ro" -v "$work/home:/srv/home" \
    -v "$servers:/opt/servers/node_modules:ro" --user "$@" --entrypoint bash localhost/cellblock /dev.sh
}
check "without root a cell is made, under subordinate ids, and its server writes the user's own file" develop 1000
check "without a capability in the container too, under the user's id" develop 1001:1001 --cap-drop ALL
exit $failed
