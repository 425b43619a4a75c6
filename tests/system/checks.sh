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
check 'the service does not run before the first connection' is "$(property ActiveState)" inactive
check 'the units are sound' systemd-analyze verify --man=no /usr/lib/systemd/system/cellblock.service /usr/lib/systemd/system/cellblock.socket /usr/lib/systemd/system/cellblock-reload.path
security=$(systemd-analyze security --no-pager $service)
check 'systemd-analyze security says at most 5.0' awk -v n="$(awk '/Overall exposure/ { print $(NF-2) }' <<<"$security")" 'BEGIN { exit !(n > 0 && n <= 5.0) }'
echo "$security" >/run/told/security
check 'the configuration as installed is usable' cellblockd --check
declare_everything
check 'a call through the socket starts the service and is answered by an npm server' answers first
check 'the service was started by that' is "$(property ActiveState)" active
check 'it serves on the socket of systemd' journal_has 'socket of the service manager'
check 'systemctl status tells what runs' eventually status_has '1 server declared, 1 user'
check 'no process of the service has a capability on the host' \
  is "$(grep -h CapEff "/proc/$(main_pid)/status" | tr -d '[:space:]')" CapEff:0000000000000000

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

# --- restart under an open session

check 'a session is open' open_session host everything
systemctl reset-failed  # what was started so far is not to count
check 'the service restarts under it' systemctl restart $service
check 'the session goes on in the next one' echoes host fifth
close_session host

# --- another configuration under an open session

deny_echo() { printf '[[server.everything.rule]]\neffect = "deny"\ntools = ["echo"]\n' >>/etc/cellblock/servers.d/everything.toml; }
check 'a session is open' open_session host everything
check 'its tool answers' echoes host before
before=$(main_pid)
deny_echo
check 'systemctl reload succeeds' systemctl reload $service
check 'the tool is refused in the session that is open' not echoes host refused
check 'the service is the same process' is "$(main_pid)" "$before"
echo 'command = 7' >>/etc/cellblock/servers.d/everything.toml
check 'a configuration that is not usable fails the reload' not systemctl reload $service
check 'and it is said why' journal_has 'nothing was changed'
check 'and the service runs on' is "$(property ActiveState) $(main_pid)" "active $before"
declare_everything
check 'the one before is taken again' systemctl reload $service
check 'and the tool answers in the same session' echoes host again
systemctl start cellblock-reload.path
deny_echo
refused() { not echoes host watched; }
check 'a change is taken by itself where that is wanted' eventually refused
systemctl stop cellblock-reload.path
declare_everything
systemctl reload $service
close_session host

# --- the watchdog

drop_in $service '[Service]' 'WatchdogSec=3'
systemctl reset-failed
systemctl restart $service
check 'the service lives with a short watchdog' answers seventh
check 'a daemon that hangs is replaced' replaced_after STOP "$(main_pid)"
check 'a daemon whose launcher hangs is replaced' replaced_after STOP "$(launcher)"
check 'by the watchdog' journal_has 'Watchdog timeout'
check 'and answers' answers eighth
no_drop_in $service
systemctl reset-failed

# --- a socket that is not what the configuration says

drop_in cellblock.socket '[Socket]' 'SocketMode=0660'
systemctl stop $service cellblock.socket 2>/dev/null
systemctl start cellblock.socket
check 'a socket of another mode than the configuration is refused' not systemctl start $service
check 'and it is said why' journal_has 'has mode 0660, but socket.mode is 0666'
no_drop_in cellblock.socket
systemctl stop cellblock.socket $service
systemctl reset-failed
systemctl start cellblock.socket
check 'as it was, it starts' answers ninth

# --- a user's own

own() { runuser -u tester -- env XDG_RUNTIME_DIR=/run/user/1000 CELLBLOCK_SOCKET=/run/user/1000/cellblock/cellblock.sock "$@"; }
own_answers() { own cellblock call everything echo --arg message="$1" --timeout 120s | grep -q "Echo: $1"; }
install -d -o tester -g tester /home/tester/.config /home/tester/.config/cellblock
install -o tester -g tester -m 600 /etc/cellblock/servers.d/everything.toml /home/tester/.config/cellblock/cellblock.toml
loginctl enable-linger tester
check 'a user has a manager of his own' eventually test -S /run/user/1000/systemd/private
check 'it makes his socket' own systemctl --user start cellblock.socket
check 'a call through it starts his service and is answered' own_answers mine
check 'which runs as himself' is "$(ps -o uid= -p "$(own systemctl --user show -P MainPID $service)" | tr -d ' ')" 1000
check 'its watchdog is the same' is "$(own systemctl --user show -P WatchdogUSec $service)" 1min
own systemctl --user stop cellblock.socket $service
loginctl disable-linger tester

# --- upgrade

before=$(main_pid) before_inode=$(inode)
check 'the packages upgrade while the service runs' dpkg -i /opt/checks/later/cellblock_*.deb /opt/checks/later/libcellblock-client0*.deb
check 'the service was restarted' eventually another_process_serves "$before"
check 'the socket stayed' is "$(inode)" "$before_inode"
check 'the new version answers' answers tenth
systemctl stop cellblock.socket $service
systemctl mask cellblock.socket >/dev/null 2>&1
check 'an installation over an admin'"'"'s mask succeeds' dpkg -i /opt/checks/packages/cellblock_*.deb /opt/checks/packages/libcellblock-client0*.deb
check 'and leaves the mask' is "$(systemctl is-enabled cellblock.socket)" masked
check 'and starts nothing' is "$(property ActiveState)" inactive
systemctl unmask cellblock.socket >/dev/null 2>&1
systemctl start cellblock.socket
check 'unmasked it works again' answers eleventh

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
