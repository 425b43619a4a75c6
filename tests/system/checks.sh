#!/bin/bash
# The checks, as root on the booted machine that run.sh made; /opt/checks has the packages.
set -u
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
. /opt/checks/checking.sh
. /opt/checks/sessions.sh

status_has() { property StatusText | grep -qF "$1"; }

# --- install and socket activation

check 'the packages install on a clean system' dpkg -i /opt/checks/packages/cellblock_*.deb /opt/checks/packages/libcellblock-client0*.deb
check 'the socket is enabled' is "$(systemctl is-enabled cellblock.socket)" enabled
check 'the socket listens' systemctl -q is-active cellblock.socket
check 'the socket is root'"'"'s, and no unit gives it away by path' is "$(stat -c %U $socket)$(systemctl show -P SocketUser cellblock.socket)$(systemctl show -P SocketGroup cellblock.socket)" root
check 'the service does not run before the first connection' is "$(property ActiveState)" inactive
check 'the units are sound' systemd-analyze verify --man=no /usr/lib/systemd/system/cellblock.service /usr/lib/systemd/system/cellblock.socket /usr/lib/systemd/system/cellblock-reload.path /usr/lib/systemd/system/cellblock-check.timer /usr/lib/systemd/system/cellblock-check.service /usr/lib/systemd/system/cellblock-audit.timer /usr/lib/systemd/system/cellblock-audit.service /usr/lib/systemd/system/cellblock-scan.timer /usr/lib/systemd/system/cellblock-scan.service
security=$(systemd-analyze security --no-pager $service)
check 'systemd-analyze security says at most 5.0' awk -v n="$(awk '/Overall exposure/ { print $(NF-2) }' <<<"$security")" 'BEGIN { exit !(n > 0 && n <= 5.0) }'
echo "$security" >/run/told/security
check 'the configuration as installed is usable' cellblockd --check
declare_everything
declare_own_files
check 'a call through the socket starts the service and is answered by an npm server' answers first
check 'the service was started by that' is "$(property ActiveState)" active
check 'it serves on the socket of systemd' journal_has 'socket of the service manager'
check 'systemctl status tells what runs' eventually status_has '2 servers declared, 1 user'
check 'no process of the service has a capability on the host' \
  is "$(grep -h CapEff "/proc/$(main_pid)/status" | tr -d '[:space:]')" CapEff:0000000000000000

# --- a user's own directory

check "a user's own directory, closed to all others, is written in a cell" as_tester call files write_file --arg path=$own/made --arg content=word --timeout 5m
check "and stays the user's" is "$(stat -c '%U:%G' $own/made)" tester:tester
run_as=$(as_tester --json status files | grep -o '"run_as":"[a-z]*"')
check 'under a dedicated id' is "$run_as" '"run_as":"own"'

# --- servers outside cells

install -d -o tester -g tester /home/tester/.cursor
install -o tester -g tester -m 600 /dev/stdin /home/tester/.cursor/mcp.json <<<'{"mcpServers":{"loose":{"command":"npx","args":["loose-mcp"]}}}'
systemctl start cellblock-scan.service || true  # it fails where it finds one
check 'the daily search fails where a server is outside cells' is "$(systemctl show -P ExecMainStatus cellblock-scan.service)" 15
check 'and tells which' eventually sh -c 'journalctl -u cellblock-scan.service | grep -q loose-mcp'
systemctl reset-failed cellblock-scan.service
rm -r /home/tester/.cursor

# --- deaths

before=$(inode)
check 'a killed daemon is replaced' replaced_after KILL "$(main_pid)"
check 'and answers' answers second
check 'a daemon whose launcher is killed is replaced' replaced_after KILL "$(launcher)"
check 'and answers' answers third
check 'the socket was the same all the time' is "$(inode)" "$before"
systemctl stop $service 2>/dev/null
check 'a stopped service leaves no process' no_processes
check 'a stopped service leaves the socket' systemctl -q is-active cellblock.socket
check 'and is started by the next call' answers fourth

# Not where run.sh was asked for a few.
[ ! -e /opt/checks/all ] || . /opt/checks/all_checks.sh

# --- remove and purge

check 'the package is removed while it runs' dpkg -r cellblock
check 'no process is left' no_processes
check 'no socket is left' not test -e $socket
check 'no control group is left' not test -e /sys/fs/cgroup/system.slice/$service
check 'the configuration and the state stay' test -e /etc/cellblock/cellblock.toml -a -d /var/lib/cellblock
check 'the package is purged' dpkg -P cellblock
check 'nothing of it is left' not test -e /var/lib/cellblock -o -e /var/log/cellblock -o -e /etc/cellblock/cellblock.toml

echo $failed >/run/told/status.new
mv /run/told/status.new /run/told/status
