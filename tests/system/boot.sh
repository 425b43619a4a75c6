#!/bin/bash
# Becomes systemd of a machine of its own; a run.sh starts it in new namespaces. boot.sh WORK ROOT_TAR [SERVERS]
# WORK/files becomes /opt/checks; checks.sh in it is started as a service. SERVERS becomes /opt/mcp/node_modules. WORK/binds has
# lines `SOURCE TARGET OPTIONS`: directories of the host that the machine sees.
set -euo pipefail
work=$1 tar=$2 servers=${3:-} root=$1/root
mount --make-rprivate /
mount -t tmpfs -o mode=755,size=8g root "$root"
tar -xf "$tar" -C "$root" --numeric-owner --exclude='./dev/*'
if [ -n "$servers" ]; then
  mkdir -p "$root/opt/mcp"
  cp -r --no-preserve=ownership "$servers" "$root/opt/mcp/node_modules"
  chmod -R go-w "$root/opt/mcp"
fi
mkdir -p "$root/opt/checks"
cp -r "$work/files/." "$root/opt/checks/"
echo cellblock-system >"$root/etc/hostname"
for unit in systemd-sysctl systemd-udevd systemd-modules-load systemd-networkd systemd-resolved getty@tty1 apt-daily; do
  ln -sf /dev/null "$root/etc/systemd/system/$unit.service"
done
if [ -e "$work/files/checks.sh" ]; then
  mkdir -p "$root/etc/systemd/system/multi-user.target.wants"
  ln -s ../checks.service "$root/etc/systemd/system/multi-user.target.wants/"
fi
cat >"$root/etc/systemd/system/checks.service" <<'UNIT'
[Unit]
Description=The checks of cellblock's packages
After=multi-user.target
[Service]
ExecStart=/bin/bash /opt/checks/checks.sh
StandardOutput=append:/run/told/out
StandardError=append:/run/told/out
UNIT

mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
mount -t sysfs -o ro,nosuid,nodev,noexec sysfs "$root/sys"
mount -t cgroup2 -o nosuid,nodev,noexec cgroup2 "$root/sys/fs/cgroup"
mount -t tmpfs -o mode=755,nosuid dev "$root/dev"
for node in null:3 zero:5 full:7 random:8 urandom:9; do
  mknod -m 666 "$root/dev/${node%:*}" c 1 "${node#*:}"
done
mknod -m 666 "$root/dev/tty" c 5 0
ln -s /proc/self/fd "$root/dev/fd"
for number in 0:stdin 1:stdout 2:stderr; do ln -s "fd/${number%:*}" "$root/dev/${number#*:}"; done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5,nosuid,noexec devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
mount -t tmpfs -o mode=1777,nosuid,nodev shm "$root/dev/shm"
mount -t tmpfs -o mode=755,nosuid,nodev run "$root/run"
mkdir "$root/run/told"
mount --bind "$work/told" "$root/run/told"
if [ -e "$work/binds" ]; then
  while read -r source target options; do
    mkdir -p "$root$target"
    mount --bind "$source" "$root$target"
    mount -o "remount,bind,$options" "$root$target"
  done <"$work/binds"
fi
hostname cellblock-system
cd "$root"
pivot_root . .
umount -l .
exec env -i container=cellblock-system PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd
