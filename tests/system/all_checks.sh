# The checks that a few leave out, between the deaths and the removal of checks.sh; sourced.

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

drop_in cellblock.socket '[Socket]' 'SocketMode=0660' "ExecStartPost=chgrp --no-dereference tester $socket"
systemctl stop cellblock.socket $service
cp -a /etc/cellblock/cellblock.toml /root/before.toml
sed -i 's/^mode = .*/mode = "0660"\ngroup = "tester"/' /etc/cellblock/cellblock.toml
systemctl start cellblock.socket
check 'a socket of a group is made as the documentation says' is "$(stat -c '%U:%G %a' $socket)" 'root:tester 660'
check 'and is taken' answers grouped
no_drop_in cellblock.socket
systemctl stop cellblock.socket $service
mv /root/before.toml /etc/cellblock/cellblock.toml
systemctl start cellblock.socket
check 'with the one of before, too' answers ungrouped

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
