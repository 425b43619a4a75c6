#!/bin/bash
# Makes, or finds, a booted Debian 12 as a virtual machine's disk, kernel and saved state: image.sh CACHE PACKAGES
# The last line of its output is the image's directory.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=$1 packages=$2,linux-image-cloud-amd64,initramfs-tools,zstd,udev,util-linux

key=$(cat "$here/image.sh" "$here/machine.py" "$here/agent.sh" <(qemu-system-x86_64 --version) <(echo "$packages") | sha256sum)
image=$cache/vm-${key:0:12}
if [ -e "$image/state" ]; then echo "$image"; exit 0; fi
echo "making a virtual machine in $image"
mkdir -p "$cache"
rm -rf "$cache"/vm-*  # of other versions
work=$(mktemp -d "$cache/new.XXXXXX")
trap 'rm -rf "$work"' EXIT

# What the machine has of disks and ports is known: its first file system loads no more than that.
modules='printf "%s\n" virtio_pci virtio_blk ext4 >"$1/usr/share/initramfs-tools/modules.d/machine"'
modules="mkdir -p \"\$1/usr/share/initramfs-tools/modules.d\" \"\$1/etc/initramfs-tools/conf.d\"; $modules"
modules+='; echo MODULES=list >"$1/etc/initramfs-tools/conf.d/machine"'
mmdebstrap --quiet --format=directory --variant=minbase --include="$packages" --aptopt='Acquire::Languages "none"' \
  --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
  --dpkgopt='path-exclude=/usr/share/locale/*' --essential-hook="$modules" \
  --customize-hook='chroot "$1" useradd -m tester' --customize-hook='rm -f "$1"/etc/dpkg/dpkg.cfg.d/99mmdebstrap' \
  bookworm "$work/tree"

tree=$work/tree
cp "$tree"/boot/vmlinuz-* "$work/vmlinuz"
cp "$tree"/boot/initrd.img-* "$work/initrd"
rm -rf "$tree"/boot/* "$tree"/var/cache/apt "$tree"/var/lib/apt/lists
echo cellblock-system >"$tree/etc/hostname"
echo '127.0.0.1 localhost cellblock-system' >"$tree/etc/hosts"
echo '/dev/vda / ext4 defaults 0 0' >"$tree/etc/fstab"
systemd-id128 new >"$tree/etc/machine-id"
for unit in serial-getty@ttyS0.service getty@tty1.service e2scrub_reap.service systemd-pstore.service apt-daily.timer \
  apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer fstrim.timer systemd-tmpfiles-clean.timer; do
  ln -sf /dev/null "$tree/etc/systemd/system/$unit"
done
install -m 755 "$here/agent.sh" "$tree/usr/local/sbin/agent"
cat >"$tree/etc/systemd/system/agent.service" <<'UNIT'
[Unit]
Description=Runs the checks when it is told to
Wants=dev-virtio\x2dports-checks.device
After=dev-virtio\x2dports-checks.device
[Service]
ExecStart=/usr/local/sbin/agent
OOMScoreAdjust=-900
TasksMax=infinity
# At a shutdown the checks outlive it, so that it says nothing of their end.
KillMode=process
UNIT
mkdir -p "$tree/etc/systemd/system/multi-user.target.wants"
ln -s ../agent.service "$tree/etc/systemd/system/multi-user.target.wants/"
mke2fs -q -t ext4 -E lazy_itable_init=0,lazy_journal_init=0 -d "$tree" "$work/disk" 4G
rm -rf "$tree"

"$here/machine.py" save "$work"
mv "$work" "$image"
trap - EXIT
echo "$image"
