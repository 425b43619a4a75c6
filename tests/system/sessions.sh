# Sessions of hosts behind `cellblock connect` that stay open while things happen; sourced. What one hears is in /tmp/NAME.out.
declare -A input
id=0
answer=

open_session() {  # NAME SERVER
  rm -f "/tmp/$1" "/tmp/$1.out"
  mkfifo "/tmp/$1"
  # socat gives it Unix sockets, as hosts do: these are handed over, a FIFO with a name is not.
  runuser -u tester -- socat -t 3600 - EXEC:"cellblock connect $2" <"/tmp/$1" >"/tmp/$1.out" 2>"/tmp/$1.err" &
  exec {input[$1]}>"/tmp/$1"
  ask "$1" initialize '{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"check","version":"1"}}' &&
    say "$1" '{"jsonrpc":"2.0","method":"notifications/initialized"}'
}
close_session() { exec {input[$1]}>&-; }
say() { echo "$2" >&"${input[$1]}"; }
heard() { answer=$(grep "\"id\":$2[,}]" "/tmp/$1.out"); }
ask() {  # NAME METHOD PARAMS: $answer is what comes
  answer=
  id=$((id + 1))
  say "$1" '{"jsonrpc":"2.0","id":'$id',"method":"'"$2"'","params":'"$3"'}' && eventually heard "$1" $id
}
use() {  # NAME TOOL ARGUMENTS TEXT: the answer contains TEXT
  ask "$1" tools/call '{"name":"'"$2"'","arguments":'"$3"'}' && contains "$answer" "$4"
}
echoes() { use "$1" echo '{"message":"'"$2"'"}' "Echo: $2"; }
