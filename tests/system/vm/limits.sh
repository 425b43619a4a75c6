# What the control groups of cells hold, by its effect; sourced.
cells=/sys/fs/cgroup/system.slice/$service/cells
cell() { echo "$cells/$1"-*; }  # of the one session at that server
value() { cat "$(cell "$1")/$2"; }
no_cell() { not test -e "$(cell "$1")"; }
field() { sed -n "s/^$2 //p" "$1"; }

full() { [ "$(cat "$1/pids.peak")" -ge 40 ]; }
fill() {  # GROUP: with processes of root's
  (
    exec {input[host]}>&- {input[neighbour]}>&-
    exec sh -c 'echo $$ >"$0/cgroup.procs"; for n in $(seq 60); do sleep 10000 & done' "$1"
  )
}

serves() { as_tester call "$1" pid --timeout 5m | grep -q pid; }

declare_greedy() {  # NAME LIMITS
  cat >/etc/cellblock/servers.d/"$1".toml <<TOML
[server.$1]
command = ["/usr/bin/node", "/opt/mcp/greedy_server.mjs"]
program = "/opt/mcp"
profile = "node"
start   = { handshake_timeout = "5m" }
limits  = { $2 }
allow   = { users = ["tester"], tools = ["*"] }
TOML
}

install_the_packages() {
  check 'the machine has all controllers' contains "$(cat /sys/fs/cgroup/cgroup.controllers)" 'cpu io memory hugetlb pids'
  check 'the packages install' dpkg -i /opt/checks/packages/cellblock_*.deb /opt/checks/packages/libcellblock-client0*.deb
  printf '[audit]\njournal = "all"\n' >>/etc/cellblock/cellblock.toml
  declare_everything
  declare_greedy eater 'memory = "128MiB"'
  declare_greedy bomber 'pids = 40, cpu = 0.5'
  declare_greedy quick 'pids = 64'
  declare_greedy spinner 'cpu = 0.2, io_write = "1MiB"'
  check 'the service does not run before the first connection' is "$(property ActiveState)" inactive
  check 'a call through the socket starts it and is answered by an npm server' answers first
  check 'cells get the controllers of their limits' is "$(cat $cells/cgroup.subtree_control)" 'cpu io memory pids'
  check 'no controller is missing' contains "$(as_tester status --json)" '"missing":[]'
}

limits() {
  check 'a neighbour has a session' open_session neighbour everything
  neighbour=$(cat "$(cell everything)/cgroup.procs")
  memory
  processes
  processor
  check 'the cell of the neighbour is the same as before' is "$(cat "$(cell everything)/cgroup.procs")" "$neighbour"
  close_session neighbour
}

memory() {
  local status
  check 'a session of the server that takes memory is open' open_session host eater
  check 'memory.max is what limits.memory says' is "$(value eater memory.max)" $((128 << 20))
  check 'memory.oom.group is set' is "$(value eater memory.oom.group)" 1
  check 'nothing may be swapped' is "$(value eater memory.swap.max)" 0
  check 'what is below the limit is had' use host take_memory '{"mebibytes":20}' 'took 20 MiB'
  status=$(as_tester status eater --json)
  check 'status shows what the cell uses' more_than "$(grep -o '"memory_bytes":[0-9]*' <<<"$status" | cut -d: -f2)" $((20 << 20))
  check 'and the most that it has used' more_than "$(grep -o '"memory_peak_bytes":[0-9]*' <<<"$status" | cut -d: -f2)" $((20 << 20))
  check 'and how long it waited for memory' contains "$status" '"pressure":{"'
  check 'a call that takes more is answered: it was memory' use host take_memory '{"mebibytes":400}' '"verdict":"out_of_memory"'
  check 'and in words which limit' contains "$answer" 'went over limits.memory (128MiB)'
  status=$(as_tester status eater --json)
  check 'status says so' contains "$status" '"last_end":{"verdict":"out_of_memory"'
  check 'and how many processes the kernel killed' more_than "$(grep -o '"oom_kills":[0-9]*' <<<"$status" | cut -d: -f2)" 0
  check 'the audit log says so' contains "$(cellblock audit search --server eater)" out_of_memory
  check 'the journal says so' contains "$(journalctl -q -o json CELLBLOCK_SERVER=eater)" out_of_memory
  check 'the neighbour is answered' echoes neighbour 'after the memory'
  close_session host
  check 'the group of the cell is gone' eventually no_cell eater
  check 'the next call of that server is answered' serves eater
}

processes() {
  local group
  check 'a session of the server that forks is open' open_session host bomber
  group=$(cell bomber)
  # Besides the server's processes there are two of cellblock's own.
  check 'pids.max is what limits.pids says' is "$(value bomber pids.max)" 42
  check 'a fork bomb starts' use host start_a_fork_bomb '{}' started
  check 'it fills its cell' eventually full "$group"
  check 'the neighbour is answered beside it' echoes neighbour 'beside the bomb'
  check 'the machine has few processes more' at_most "$(cat /sys/fs/cgroup/system.slice/$service/pids.current)" 100
  # The bound by user ids does not count root's.
  check 'root cannot start more in that cell either' not fill "$group"
  check 'pids.max is what held it' more_than "$(field "$group/pids.events" max)" 0
  close_session host
  check 'with the session all of them are killed, those of root too' eventually not pgrep -f 'sleep 10000|greedy_server'
}

processor() {
  local group from used share
  check 'a session of the server that computes is open' open_session host spinner
  group=$(cell spinner)
  check 'cpu.max is what limits.cpu says' is "$(cat "$group/cpu.max")" '20000 100000'
  check 'io.max is what limits.io_write says' contains "$(cat "$group/io.max")" wbps=1048576
  from=$(date +%s%N) used=$(field "$group/cpu.stat" usage_usec)
  check 'it computes for some seconds' use host use_the_processor '{"seconds":4}' done
  used=$(($(field "$group/cpu.stat" usage_usec) - used))
  share=$((used * 100000 / ($(date +%s%N) - from)))
  check 'it was held back' more_than "$(field "$group/cpu.stat" nr_throttled)" 5
  check 'it had less than half of a processor' at_most $share 50
  check 'the neighbour is answered after it' echoes neighbour 'after the computing'
  close_session host
}

undelegated() {
  drop_in $service '[Service]' 'Delegate=no'
  check 'a service whose group is not delegated starts' systemctl restart $service
  check 'and says which server it leaves out, and for which limit' journal_has 'is broken: limits.memory'
  no_drop_in $service
  systemctl stop $service 2>/dev/null
  systemctl reset-failed
  check 'with Delegate= as installed it starts' serves quick
}
