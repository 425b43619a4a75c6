#!/bin/bash
# Makes of the machine that run.sh has booted what the documents presuppose, as root: prepare.sh SOURCE
# A user with sudo, the sources, and this machine's way to the network.
set -euo pipefail
source=$1
timeout 120 bash -c 'until systemctl --quiet is-active multi-user.target 2>/dev/null; do sleep 0.2; done'
cp /opt/checks/resolv.conf /etc/resolv.conf
cp /opt/checks/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
echo "127.0.0.1 localhost $(hostname)" >/etc/hosts
useradd --create-home --shell /bin/bash --groups sudo,users alice
groupadd --users alice agents
chmod 0700 /home/alice
echo 'alice ALL=(ALL:ALL) NOPASSWD: ALL
Defaults env_keep += "CCACHE_DIR CCACHE_READONLY CCACHE_TEMPDIR NODE_EXTRA_CA_CERTS"' >/etc/sudoers.d/alice
# Where it is outside: what was built there is then not built again.
mkdir -p "$source"
above=$(dirname "$source")
while [ "$above" != / ]; do chmod o+x "$above"; above=$(dirname "$above"); done
tar -xf /opt/checks/source.tar -C "$source" --no-same-owner
chown -R alice: "$source"
ln -s "$source" /home/alice/cellblock
