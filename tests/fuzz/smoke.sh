#!/bin/sh
# Runs every fuzz target of a build for a moment: its corpus, then some thousand inputs made from it.
# What is found along the way is kept in the build directory, never in the corpus. Each input of the corpus
# is a start, whether or not the build counts what it reaches.
#   usage: tests/fuzz/smoke.sh BUILD_DIRECTORY [RUNS]
set -eu
build=$1
runs=${2:-20000}
corpus=$(dirname "$0")/corpus
failed=0
found=0

for target in "$build"/bin/*_fuzz; do
  [ -x "$target" ] || continue
  found=1
  name=$(basename "$target" _fuzz)
  work=$build/fuzz/$name
  mkdir -p "$work" "$corpus/$name"
  case $name in
    audit_records | launcher_records | received_descriptors) patience=60 ;;  # they start processes
    *) patience=5 ;;
  esac
  if "$target" -runs="$runs" -max_total_time=10 -timeout="$patience" -max_len=4096 -seed=1 -keep_seed=1 \
      -artifact_prefix="$work/" "$work" "$corpus/$name" >"$work.log" 2>&1; then
    echo "ok   $name"
  else
    failed=1
    echo "FAIL $name, see $work.log"
  fi
done

[ "$found" = 1 ] || { echo "no fuzz target in $build/bin" >&2; exit 2; }
exit "$failed"
