#!/bin/bash
# Boots a Debian 12 with its own kernel and all cgroup controllers as a virtual machine, emulated in software, and tries cellblock's
# packages there: tests/system/vm/run.sh BUILD_DIR
# As root, with mmdebstrap, dpkg-dev and qemu-system-x86 9 or newer (Debian 12: from its backports); BUILD_DIR as for run.sh above.
# One line a check. Exit status: 0 nothing failed, 1 something did, 77 this machine cannot run it (it says why), 125 the emulator failed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?usage: run.sh BUILD_DIR}" && pwd)
cache=${CELLBLOCK_SYSTEM_CACHE:-$build/system}
limit=${CELLBLOCK_SYSTEM_TIMEOUT:-1800}
. "$here/../debian_packages.sh"

skip() { echo "skipped: $*"; exit 77; }
[ "$(id -u)" = 0 ] || skip "needs root"
for tool in mmdebstrap mke2fs dpkg-deb cpack python3 qemu-system-x86_64; do command -v "$tool" >/dev/null || skip "needs $tool"; done
version=$(qemu-system-x86_64 --version | sed -n 's/.*version \([0-9]*\).*/\1/p')
[ "$version" -ge 9 ] || skip "needs QEMU 9 or newer, this is $version"
[ -e "$build/CPackConfig.cmake" ] || skip "$build is not configured with CMAKE_INSTALL_PREFIX=/usr"
servers=$here/../../fixtures/node_modules
[ -d "$servers/@modelcontextprotocol/server-everything" ] || skip "tests/fixtures/install.sh has not run"

image=$("$here/image.sh" "$cache" "$packages" | tee /dev/stderr | tail -1)
work=$(mktemp -d -t cellblock-system.XXXXXX)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' TERM INT HUP
mkdir -p "$work/opt/checks" "$work/opt/mcp"
"$here/../packages.sh" "$build" "$work/opt/checks"
cp "$here/../"{checking,sessions}.sh "$here/"{checks,limits,boots,clock}.sh "$work/opt/checks/"
cp "$here/greedy_server.mjs" "$work/opt/mcp/"
tar -C "$servers/.." --exclude='node_modules/node-linux-*' -c node_modules | tar -C "$work/opt/mcp" -x --no-same-owner
chmod -R go-w "$work/opt"
tar -C "$work" --owner=0 --group=0 -cf "$work/payload.tar" opt
"$here/machine.py" run "$image" "$work/payload.tar" 3 "$limit"
