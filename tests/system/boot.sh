#!/bin/bash
# Becomes systemd of a machine of its own; run.sh starts it in new namespaces. boot.sh WORK ROOT_TAR SERVERS
set -euo pipefail
work=$1 tar=$2 servers=$3 root=$1/root
mount --make-rprivate /
mount -t tmpfs -o mode=755,size=4g root "$root"
tar -xf "$tar" -C "$root" --numeric-owner --exclude='./dev/*'
mkdir -p "$root/opt/mcp" "$root/opt/checks"
cp -r --no-preserve=ownership "$servers" "$root/opt/mcp/node_modules"
chmod -R go-w "$root/opt/mcp"
cp -r "$work/files/." "$root/opt/checks/"
echo cellblock-system >"$root/etc/hostname"
for unit in systemd-sysctl systemd-udevd systemd-modules-load systemd-networkd systemd-resolved getty@tty1 apt-daily; do
  ln -sf /dev/null "$root/etc/systemd/system/$unit.service"
done
cat >"$root/etc/systemd/system/checks.service" <<'UNIT'
[Unit]
Description=The checks of cellblock's packages
After=multi-user.target
[Service]
ExecStart=/bin/bash /opt/checks/checks.sh
StandardOutput=append:/run/told/out
StandardError=append:/run/told/out
UNIT
mkdir -p "$root/etc/systemd/system/multi-user.target.wants"
ln -s ../checks.service "$root/etc/systemd/system/multi-user.target.wants/"

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
hostname cellblock-system
cd "$root"
pivot_root . .
umount -l .
exec env -i container=cellblock-system PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd
