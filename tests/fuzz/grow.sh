#!/bin/bash
# Grows the corpora of a build's fuzz targets, goes on where it stopped, and keeps the best inputs.
#   usage: tests/fuzz/grow.sh BUILD_DIRECTORY [--minutes M] [TARGET...]
# M: processor-minutes of each target since the state was made (20); 0: only minimise. TARGET: a name
# without "_fuzz"; none: all. The state is BUILD_DIRECTORY/fuzz-state: for each target its whole
# corpus, NAME.seconds (processor time spent) and NAME.crashes. At the end tests/fuzz/corpus/NAME has
# what reaches most, at most 400 files and 80 kB. It fails if a target has an input that crashes it.
set -euo pipefail
usage() { echo "usage: $0 BUILD_DIRECTORY [--minutes M] [TARGET...]" >&2; exit 2; }
[ $# -ge 1 ] || usage
build=$1
shift
minutes=20
if [ "${1:-}" = --minutes ]; then
  [ $# -ge 2 ] || usage
  minutes=$2
  shift 2
fi

most_files=400
most_bytes=80000
longest_run=300 # seconds of one input, by the clock: whoever fuzzes when nobody else works may wait
slice=120 # seconds after which the time that was spent is written down
corpora=$(cd "$(dirname "$0")/corpus" && pwd)
state=$build/fuzz-state
mkdir -p "$state"
failed=0

longest_input() {
  case $1 in
    line_splitter | received_descriptors) echo 512 ;;
    egress_* | config_bytes | launcher_records) echo 1024 ;;
    audit_records) echo 4096 ;;
    *) echo 2048 ;;
  esac
}

# Runs a target with further arguments and adds the processor time to its account.
run() {
  local name=$1 status=0 user system
  shift
  local TIMEFORMAT='%U %S'
  { time "$build/bin/${name}_fuzz" -max_len="$(longest_input "$name")" -timeout="$longest_run" \
      -report_slow_units=1000000 -artifact_prefix="$state/$name.crashes/" "$@" >>"$state/$name.log" 2>&1; } \
    2>"$state/$name.time" || status=$?
  read -r user system < <(tail -n 1 "$state/$name.time")
  awk -v a="$(seconds_of "$name")" -v b="$user" -v c="$system" 'BEGIN { print a + b + c }' \
    >"$state/$name.seconds.new"
  mv "$state/$name.seconds.new" "$state/$name.seconds"
  return "$status"
}

seconds_of() { cat "$state/$1.seconds" 2>/dev/null || echo 0; }
is_due() { awk -v spent="$(seconds_of "$1")" -v m="$minutes" 'BEGIN { exit !(spent < m * 60) }'; }

# An input that crashed it once and does not any more is one of its corpus from now on.
try_crashes_again() {
  local name=$1 input
  for input in "$state/$name.crashes"/*; do
    [ -f "$input" ] || continue
    "$build/bin/${name}_fuzz" -timeout="$longest_run" "$input" >>"$state/$name.log" 2>&1 || continue
    mv "$input" "$state/$name/$(sha1sum "$input" | cut -d ' ' -f 1)"
  done
}

grow() {
  local name=$1 dictionary=$corpora/../dictionaries/$1.dict
  local options=(-max_total_time="$slice" -reload=0)
  [ ! -f "$dictionary" ] || options+=(-dict="$dictionary")
  while is_due "$name" && [ -z "$(ls "$state/$name.crashes")" ]; do
    run "$name" "${options[@]}" "$state/$name" "$corpora/$name" || break
  done
}

# Written by hand: what is not named by its own digest.
is_seed() { [[ ! $(basename "$1") =~ ^[0-9a-f]{40}$ ]]; }

# Names of a directory's files, the smallest first.
by_size() { find "$1" -type f -printf '%s %f\n' | sort -n | cut -d ' ' -f 2; }

# First what reaches code that nothing smaller reaches, then what reaches it more often.
minimise() {
  local name=$1 work=$state/$1 files=0 bytes=0 size file from
  local edges=$state/$name.edges all=$state/$name.all kept=$state/$name.kept
  rm -rf "$edges" "$all" "$kept"
  mkdir "$edges" "$all" "$kept"
  for file in "$corpora/$name"/*; do
    [ -f "$file" ] && is_seed "$file" || continue
    cp "$file" "$edges/"
    cp "$file" "$kept/"
    files=$((files + 1))
  done
  run "$name" -merge=1 -use_counters=0 "$edges" "$work" "$corpora/$name" || return
  cp "$edges"/* "$all/" 2>/dev/null || true
  run "$name" -merge=1 "$all" "$work" "$corpora/$name" || return
  for from in "$edges" "$all"; do
    while read -r file; do
      [ ! -e "$kept/$file" ] || continue
      size=$(stat -c %s "$from/$file")
      [ "$files" -lt "$most_files" ] && [ $((bytes + size)) -le "$most_bytes" ] || break
      cp "$from/$file" "$kept/"
      files=$((files + 1)) bytes=$((bytes + size))
    done < <(by_size "$from")
  done
  rm -rf "${corpora:?}/$name" "$work"
  mv "$kept" "$corpora/$name"
  mv "$all" "$work"
  rm -rf "$edges"
}

names=("$@")
if [ ${#names[@]} = 0 ]; then
  for target in "$build"/bin/*_fuzz; do names+=("$(basename "$target" _fuzz)"); done
fi
for name in "${names[@]}"; do
  [ -x "$build/bin/${name}_fuzz" ] || { echo "no fuzz target $name in $build/bin" >&2; exit 2; }
  mkdir -p "$state/$name" "$state/$name.crashes" "$corpora/$name"
  try_crashes_again "$name"
  grow "$name"
  minimise "$name" || echo "$name: its corpus was not minimised, see $state/$name.log"
  spent=$(awk -v s="$(seconds_of "$name")" 'BEGIN { printf "%.1f", s / 60 }')
  echo "$name: $spent processor-minutes, $(ls "$corpora/$name" | wc -l) inputs kept"
  [ -z "$(ls "$state/$name.crashes")" ] || { failed=1; echo "FAIL $name, see $state/$name.crashes"; }
done
exit "$failed"
