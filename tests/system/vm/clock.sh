# The time of day jumps while sessions call; sourced. What cellblock measures goes by the steady clock: no call, cell or
# session may end because of it, and nothing that is shown may be as long as the jump.
callers="caller-a caller-b caller-c"

keep_calling() {  # NAME SERVER TOOL ANSWER: one call after another until /tmp/enough is there; /tmp/NAME.calls counts the answered
  local calls=0
  open_session "$1" "$2" || return 1
  while [ ! -e /tmp/enough ]; do
    use "$1" "$3" '{"message":"'"$1-$calls"'"}' "${4/MESSAGE/$1-$calls}" || return 1
    calls=$((calls + 1))
    echo $calls >"/tmp/$1.calls"
  done
  close_session "$1"
}
answered() { cat "/tmp/$1.calls" 2>/dev/null || echo 0; }
has_answers() { [ "$(answered "$1")" -ge "$2" ]; }
all_go_on() {
  local name
  for name in $callers; do eventually has_answers "$name" $(($(answered "$name") + 3)) || { echo "$name: $(answered "$name")"; return 1; }; done
}
uptimes_are_sane() {  # no cell is older than the machine
  local text uptime most
  text=$(as_tester status --json | grep -o '"uptime_ms":-\{0,1\}[0-9]*' | cut -d: -f2)
  most=$(awk '{ print int($1 * 1000) }' /proc/uptime)
  [ -n "$text" ] || { echo "no cell is shown"; return 1; }
  for uptime in $text; do [ "$uptime" -ge 0 ] && [ "$uptime" -le "$most" ] || { echo "$uptime ms"; return 1; }; done
}
# One after the other: this machine is slow.
begin_to_call() {
  keep_calling "$@" &
  pids+=($!)
  check "$1 begins to call" eventually has_answers "$1" 1
}
# Not `date +%s`, which jumps.
steady() { cut -d. -f1 /proc/uptime; }
lists_tools() { as_tester tools everything --timeout 5m | grep -q echo; }

clock() {
  local name jump began today processes pids=()
  rm -f /tmp/enough
  today=$(date +%s) began=$(steady)
  check 'lists are known' lists_tools
  begin_to_call caller-a everything echo 'Echo: MESSAGE'
  begin_to_call caller-b everything echo 'Echo: MESSAGE'
  begin_to_call caller-c quick pid pid
  check 'three sessions call' all_go_on
  processes="$(main_pid) $(launcher) $(gateway) $(ls $cells)"
  for jump in '1 year' '2 years ago' '10 years' '9 years ago'; do
    date -s "$jump" >/dev/null
    check "they go on when the clock jumps by $jump" all_go_on
    check 'with the same processes and cells' is "$(main_pid) $(launcher) $(gateway) $(ls $cells)" "$processes"
    check 'no cell is shown to be older than the machine' uptimes_are_sane
  done
  check 'lists are had and kept' lists_tools
  date -s '6 years ago' >/dev/null
  check 'lists kept in a year to come are no harm' lists_tools
  check 'the service restarts in a year that its files come after' systemctl restart $service
  check 'the sessions go on' all_go_on
  check 'lists are had' lists_tools
  : >/tmp/enough
  for name in "${pids[@]}"; do check 'every call was answered' wait "$name"; done
  check 'the audit log is whole' cellblock audit verify
  date -s "@$((today + $(steady) - began))" >/dev/null
}
