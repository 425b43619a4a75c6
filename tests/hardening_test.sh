#!/usr/bin/env bash
# Reads from the programs of a release build that they are as hardened as they were asked to be:
# hardening_test.sh BIN_DIR
set -euo pipefail
directory=$1
bad=0
complain() { echo "$1: $2"; bad=1; }

# Of a static program: the C library in it has the symbol in any case, so our own code is looked at.
calls_protector() {
  objdump --disassemble "$1" | awk '/^[0-9a-f]+ <.*cellblock5probe/ { ours = 1 } /^$/ { ours = 0 }
    ours && /__stack_chk_fail/ { found = 1 } END { exit !found }'
}

for name in cellblockd cellblock cellblock-supervisor cellblock-launcher cellblock-gateway cellblock-audit cellblock-http cellblock-metrics cellblock-egress cellblock-probe cellblock-tools; do
  program=$directory/$name
  [ -e "$program" ] || { complain "$name" "is not there"; continue; }
  header=$(readelf --wide --file-header "$program")
  segments=$(readelf --wide --segments "$program")
  dynamic=$(readelf --wide --dynamic "$program")
  symbols=$(readelf --wide --dyn-syms "$program")
  grep -q 'Type: *DYN (Position-Independent Executable' <<<"$header" || complain "$name" "is not a PIE"
  grep -q 'GNU_RELRO' <<<"$segments" || complain "$name" "has no RELRO"
  # The probe is linked statically: it asks for no loader, and has nothing to bind lazily.
  if [ "$name" = cellblock-probe ]; then
    if grep -qE 'INTERP' <<<"$segments"; then complain "$name" "needs a loader, which its cell may lack"; fi
    calls_protector "$program" || complain "$name" "has no stack protector"
    if grep -qE '\(NEEDED\)' <<<"$dynamic"; then complain "$name" "needs libraries, which its cell may lack"; fi
  else
    grep -q 'FLAGS.*NOW' <<<"$dynamic" || complain "$name" "binds lazily, so its RELRO is not full"
    grep -q '__stack_chk_fail' <<<"$symbols" || complain "$name" "has no stack protector"
  fi
  grep -q 'GNU_STACK.* RW ' <<<"$segments" || complain "$name" "has an executable stack"
  if grep -q 'LOAD.* RWE ' <<<"$segments"; then complain "$name" "has memory to write and execute"; fi
  if grep -qE '\((RPATH|TEXTREL)\)' <<<"$dynamic"; then complain "$name" "has an RPATH or TEXTREL"; fi
  # An empty entry is the current directory.
  if grep -qE 'RUNPATH.*(\[:|::|:\]|\[\])' <<<"$dynamic"; then
    complain "$name" "looks for libraries in the current directory"
  fi
done

# The process that every host reaches first has no library that reads what people write.
foreign=$(readelf --wide --dynamic "$directory/cellblock-supervisor" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
  grep -vE '^(libc|libm|libgcc_s|libstdc\+\+|libfmt|libspdlog|ld-linux[^.]*)\.so\.' || true)
[ -z "$foreign" ] || complain cellblock-supervisor "is linked with ${foreign//$'\n'/, }"

# What these leave in a program cannot be told apart from what less would leave.
commands=$directory/../compile_commands.json
for flag in -D_FORTIFY_SOURCE=3 -ftrivial-auto-var-init=zero; do
  [ -e "$commands" ] || { complain "$commands" "is not there"; break; }
  without=$(grep -E '"command":.* -c [^ ]*/(policy|supervisor|client)/' "$commands" | grep -cv -- " $flag " || true)
  [ "$without" -eq 0 ] || complain "$flag" "is missing from $without of the commands that compile"
done
[ "$bad" -eq 0 ] && echo "position-independent, full RELRO, no executable stack, stack protector, fortified, no uninitialised variables"
