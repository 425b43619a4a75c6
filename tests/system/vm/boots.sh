# Deaths, an upgrade and new boots, with sessions open; sourced.
gateway() { pgrep -f '^cellblock-gateway' | head -1; }

deaths() {
  local before
  check 'a session is open' open_session host quick
  before=$(main_pid)
  check 'its gateway is killed' kill -KILL "$(gateway)"
  check 'its cell goes with it' eventually no_cell quick
  close_session host
  check 'and the next call is answered' serves quick
  check 'by the same daemon' is "$(main_pid)" "$before"

  open_session host quick >/dev/null
  check 'a daemon whose launcher is killed is replaced' replaced_after KILL "$(launcher)"
  check 'no cell of the old one is left' eventually no_cell quick
  close_session host
  check 'and the new one answers' serves quick

  open_session host quick >/dev/null
  check 'a killed daemon is replaced' replaced_after KILL "$(main_pid)"
  check 'no cell of it is left' eventually no_cell quick
  close_session host
  check 'and the new one answers' serves quick
}

upgrade() {
  local before
  check 'a session is open before the upgrade' open_session host everything
  check 'it is answered' echoes host before
  before=$(main_pid)
  check 'the packages upgrade' dpkg -i /opt/checks/later/cellblock_*.deb /opt/checks/later/libcellblock-client0*.deb
  check 'the service is another one' eventually another_process_serves "$before"
  check 'the session goes on' echoes host after
  close_session host
}

known_pins() { as_tester status quick --json | grep -o '"known":[0-9]*'; }

reboot_in_order() {
  known_pins >/opt/checks/pins
  check 'a session is open when the machine goes down' open_session host quick
  echo $failed >/opt/checks/failed
  systemctl reboot
  sleep infinity
}

boot_is_good() {
  failed=$(cat /opt/checks/failed)
  check 'the system is in order' is "$(systemctl is-system-running)" running
  check 'the socket is back' systemctl -q is-active cellblock.socket
  check 'the service waits for the first connection' is "$(property ActiveState)" inactive
  check 'the audit log is whole' cellblock audit verify
  check 'a call starts it and is answered' serves quick
  check 'the definitions that were pinned are known' is "$(known_pins)" "$(cat /opt/checks/pins)"
  check 'the audit log goes on' cellblock audit verify
}

after_a_reboot() { boot_is_good; }

cut_the_power() {
  check 'a session is open when the power fails' open_session host quick
  echo $failed >/opt/checks/failed
  sync /opt/checks/failed
  echo b >/proc/sysrq-trigger
}

after_a_power_cut() {
  boot_is_good
  check 'the package is removed' dpkg -P cellblock
  check 'no group is left' not test -e "/sys/fs/cgroup/system.slice/$service"
}
