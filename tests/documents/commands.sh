#!/bin/bash
# Does the steps of one document (blocks.py) in one shell, as its reader would: commands.sh STEPS VERBOSE
# One line a step; what was said is shown where a step failed, and always if VERBOSE is 1. Ends with 1 after the first failure.
steps=$1 verbose=$2
said=$(mktemp)

write_file() {  # TEE_OPTION PATH TEXT: as root
  sudo install -d "$(dirname "$2")" && printf '%s' "$3" | sudo tee $1 "$2" >/dev/null
}
report() {  # WORD LABEL TEXT
  printf '%-7s %s: %s\n' "$1" "$2" "$(head -1 <<<"$3")"
}

exec 3<"$steps"
while IFS= read -r -d '' -u 3 label && IFS= read -r -d '' -u 3 kind &&
      IFS= read -r -d '' -u 3 argument && IFS= read -r -d '' -u 3 text; do
  wanted=0
  case $kind in
    skip) report skipped "$label" "$text"; echo "        $argument"; continue ;;
    write) write_file '' "$argument" "$text" >"$said" 2>&1 ;;
    append) write_file -a "$argument" "$text" >"$said" 2>&1 ;;
    run) wanted=$argument; eval "$text" >"$said" 2>&1 3<&- < <(yes '' | head -c 65536) ;;  # empty lines: what is asked has a default
  esac
  status=$?
  [ $status = "$wanted" ] && word=ok || word=FAILED
  report $word "$label" "${text#$'\n'}"
  if [ $word = FAILED ] || [ "$verbose" = 1 ]; then sed 's/^/        | /' "$said" | tail -n 60; fi
  if [ $word = FAILED ]; then echo "        it ended with status $status, not $wanted"; exit 1; fi
done
