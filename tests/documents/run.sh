#!/bin/bash
# Types what the documents say into a fresh Debian with systemd, as a user with sudo: tests/documents/run.sh [-v] [--built]
# -v: shows what every command says. --built: takes build/deb along and configures it anew, so that nothing is compiled that
# is compiled already.
# As root, with mmdebstrap, a mounted cgroup2 and the network. See README.md.
# One line a command. Exit status: 0 nothing failed, 1 something did, 77 this machine cannot run it (it says why).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
limit=${CELLBLOCK_DOCUMENTS_TIMEOUT:-3600}
verbose=0 built=
for argument in "$@"; do
  case $argument in
    -v) verbose=1 ;;
    --built) built=yes ;;
    *) echo "usage: run.sh [-v] [--built]" >&2; exit 2 ;;
  esac
done

skip() { echo "skipped: $*"; exit 77; }
[ "$(id -u)" = 0 ] || skip "needs root"
for tool in mmdebstrap unshare nsenter findmnt git python3; do command -v "$tool" >/dev/null || skip "needs $tool"; done
unified=$(findmnt -n -t cgroup2 -o TARGET | head -1)
[ -n "$unified" ] || skip "no cgroup2 is mounted"
[ -w "$unified/cgroup.procs" ] || skip "no group can be made in $unified"
unshare --mount --uts --ipc --net --pid --cgroup --fork mount --make-rprivate / || skip "no machine can be made of namespaces"
[ -z "$built" ] || [ -e "$source/build/deb/build.ninja" ] || skip "--built: there is no build/deb"

work=$(mktemp -d -t cellblock-documents.XXXXXX)
group=$unified/cellblock-documents-$$
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

# What a Debian 12 has after its installation, as far as a container needs it; kept for the next run.
cache=${CELLBLOCK_DOCUMENTS_CACHE:-$source/build/documents}
packages=sudo,ca-certificates,systemd,systemd-sysv,dbus,libpam-systemd
root=$cache/root-$(printf '%s' "$packages" | sha256sum | cut -c1-12).tar
mkdir -p "$cache/archives/partial"
if [ ! -e "$root" ]; then
  echo "making a root file system in $root"
  mmdebstrap --quiet --format=tar --variant=important --include="$packages" --aptopt='Acquire::Languages "none"' \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' --customize-hook='rm -f "$1"/etc/dpkg/dpkg.cfg.d/99mmdebstrap' \
    bookworm "$root.new"
  mv "$root.new" "$root"
fi

python3 "$here/blocks_test.py" 2>"$work/tests" || { cat "$work/tests"; exit 1; }
mkdir -p "$work/files" "$work/root" "$work/told"
python3 "$here/blocks.py" "$source" "$work/files/plan"
cp "$here/"{commands,prepare}.sh "$work/files/"
(cd "$source" && git ls-files -z --cached --others --exclude-standard | tar -c --null -T - --ignore-failed-read) >"$work/files/source.tar"
if [ -n "$built" ]; then tar -rf "$work/files/source.tar" -C "$source" --exclude=CMakeCache.txt --exclude=packages build/deb; fi
# What the commands need of this machine to reach the network, and of what it has compiled.
cp /etc/resolv.conf /etc/ssl/certs/ca-certificates.crt "$work/files/"
echo "$cache/archives /var/cache/apt/archives rw" >"$work/binds"
environment=(LANG="${LANG:-C.UTF-8}" NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt)
compiled=${CCACHE_DIR:-$HOME/.cache/ccache}
if [ -d "$compiled" ]; then
  echo "$compiled /opt/ccache ro" >>"$work/binds"
  environment+=(CCACHE_DIR=/opt/ccache CCACHE_READONLY=1 CCACHE_TEMPDIR=/tmp/ccache)  # LANG is part of its keys
fi

mkdir "$group"
(
  echo $BASHPID >"$group/cgroup.procs"
  exec unshare --mount --uts --ipc --net --pid --cgroup --fork --kill-child "$here/../system/boot.sh" "$work" "$root"
) </dev/null >"$work/console" 2>&1 &
unshared=$!
disown "$unshared"  # or its end by the kill in finish would be told

ended() { echo "the machine ended, or was not there after $1 s"; tail -20 "$work/console"; exit 1; }
machine=
for second in $(seq 120); do
  kill -0 "$unshared" 2>/dev/null || ended "$second"
  machine=$(pgrep -P "$unshared" | head -1) || true
  if [ -n "$machine" ] && [ "$(cat "/proc/$machine/comm")" = systemd ]; then break; fi
  machine=
  sleep 1
done
[ -n "$machine" ] || ended 120

# in_machine NETWORK COMMAND...: `host` has this machine's network, `own` its own. In the background, since a trap waits for a
# command in the foreground.
in_machine() {
  local net=()
  [ "$1" = host ] || net=(--net)
  shift
  (
    echo $BASHPID >"$group/cgroup.procs"
    exec nsenter --target "$machine" --mount --uts --ipc --pid --cgroup "${net[@]}" --root --wd="/proc/$machine/root" \
      env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "${environment[@]}" "$@"
  ) </dev/null &
  wait $!
}
started=$SECONDS
in_machine own bash /opt/checks/prepare.sh "$source"
failed=0
for steps in "$work"/files/plan/*.steps; do
  name=$(basename "$steps")
  IFS=- read -r _ _ network _ <<<"$name"
  left=$((limit - SECONDS + started))
  [ "$left" -gt 0 ] || left=1
  in_machine "$network" timeout "$left" runuser -l alice -w LANG,CCACHE_DIR,CCACHE_READONLY,CCACHE_TEMPDIR,NODE_EXTRA_CA_CERTS \
    -c "cd $source && bash /opt/checks/commands.sh /opt/checks/plan/$name $verbose" || failed=1
done
echo "$((SECONDS - started)) s"
exit $failed
