#!/bin/bash
# Boots a Debian with systemd in a container on this machine's kernel, installs the packages of a build and tries cellblock
# as the service it is meant to be: tests/system/run.sh [--few] BUILD_DIR
# --few: installation, socket activation, deaths and removal alone.
# As root, with mmdebstrap, dpkg-dev and a mounted cgroup2; BUILD_DIR configured with CMAKE_INSTALL_PREFIX=/usr and built.
# One line a check. Exit status: 0 nothing failed, 1 something did, 77 this machine cannot run it (it says why).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
scope=all
if [ "${1:-}" = --few ]; then scope=few && shift; fi
build=$(cd "${1:?usage: run.sh [--few] BUILD_DIR}" && pwd)
limit=${CELLBLOCK_SYSTEM_TIMEOUT:-900}
. "$here/debian_packages.sh"

skip() { echo "skipped: $*"; exit 77; }
[ "$(id -u)" = 0 ] || skip "needs root"
for tool in mmdebstrap dpkg-deb cpack unshare findmnt; do command -v "$tool" >/dev/null || skip "needs $tool"; done
[ -e "$build/CPackConfig.cmake" ] || skip "$build is not configured with CMAKE_INSTALL_PREFIX=/usr"
servers=$here/../fixtures/node_modules
[ -d "$servers/@modelcontextprotocol/server-everything" ] || skip "tests/fixtures/install.sh has not run"
unified=$(findmnt -n -t cgroup2 -o TARGET | head -1)
[ -n "$unified" ] || skip "no cgroup2 is mounted"
[ -w "$unified/cgroup.procs" ] || skip "no group can be made in $unified"
unshare --mount --uts --ipc --net --pid --cgroup --fork mount --make-rprivate / || skip "no machine can be made of namespaces"

work=$(mktemp -d -t cellblock-system.XXXXXX)
group=$unified/cellblock-system-$$
finish() {
  set +e
  if [ -e "$group/cgroup.kill" ]; then
    echo 1 >"$group/cgroup.kill"
    while grep -q 'populated 1' "$group/cgroup.events"; do sleep 0.05; done
    find "$group" -depth -type d -exec rmdir {} +
  fi
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 143' TERM INT HUP

# The root file system, kept for the next run.
cache=${CELLBLOCK_SYSTEM_CACHE:-$build/system}
root=$cache/root-$(printf '%s' "$packages" | sha256sum | cut -c1-12).tar
mkdir -p "$cache"
if [ ! -e "$root" ]; then
  echo "making a root file system in $root"
  mmdebstrap --quiet --format=tar --variant=minbase --include="$packages" --aptopt='Acquire::Languages "none"' \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' --customize-hook='chroot "$1" useradd -m tester' \
    --customize-hook='rm -f "$1"/etc/dpkg/dpkg.cfg.d/99mmdebstrap' bookworm "$root.new"
  mv "$root.new" "$root"
fi

files=$work/files
"$here/packages.sh" "$build" "$files"
cp "$here/"{checks,all_checks,checking,sessions}.sh "$files/"
[ "$scope" = few ] || : >"$files/all"

mkdir "$group" "$work/root" "$work/told"
: >"$work/told/out"
(
  echo $BASHPID >"$group/cgroup.procs"
  exec unshare --mount --uts --ipc --net --pid --cgroup --fork --kill-child \
    "$here/boot.sh" "$work" "$root" "$servers"
) </dev/null >"$work/console" 2>&1 &
machine=$!
disown "$machine"  # or its end by the kill below would be told
tail -n +1 -f --pid="$machine" "$work/told/out" &
shown=$!
seconds=0
while kill -0 "$machine" 2>/dev/null && [ ! -e "$work/told/status" ] && [ "$seconds" -lt "$limit" ]; do
  sleep 1
  seconds=$((seconds + 1))
done
[ -e "$work/told/status" ] || { echo "the machine ended, or took more than $limit s"; tail -20 "$work/console"; }
echo 1 >"$group/cgroup.kill"
wait "$shown" || true
cp "$work/told/security" "$build/system/security.txt" 2>/dev/null || true
exit "$(cat "$work/told/status" 2>/dev/null || echo 1)"
