#!/usr/bin/env bash
# Reads from the programs of a release build that they are as hardened as they were asked to be:
# hardening_test.sh BIN_DIR
set -euo pipefail
directory=$1
bad=0
complain() { echo "$1: $2"; bad=1; }

for name in cellblockd cellblock cellblock-launcher cellblock-gateway cellblock-audit; do
  program=$directory/$name
  header=$(readelf --wide --file-header "$program")
  segments=$(readelf --wide --segments "$program")
  dynamic=$(readelf --wide --dynamic "$program")
  symbols=$(readelf --wide --dyn-syms "$program")
  grep -q 'Type: *DYN (Position-Independent Executable' <<<"$header" || complain "$name" "is not a PIE"
  grep -q 'GNU_RELRO' <<<"$segments" || complain "$name" "has no RELRO"
  grep -q 'FLAGS.*NOW' <<<"$dynamic" || complain "$name" "binds lazily, so its RELRO is not full"
  grep -q 'GNU_STACK.* RW ' <<<"$segments" || complain "$name" "has an executable stack"
  if grep -q 'LOAD.* RWE ' <<<"$segments"; then complain "$name" "has memory to write and execute"; fi
  if grep -qE '\((RPATH|TEXTREL)\)' <<<"$dynamic"; then complain "$name" "has an RPATH or TEXTREL"; fi
  grep -q '__stack_chk_fail' <<<"$symbols" || complain "$name" "has no stack protector"
done
[ "$bad" -eq 0 ] && echo "position-independent, full RELRO, no executable stack, stack protector"
