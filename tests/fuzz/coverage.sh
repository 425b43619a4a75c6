#!/bin/bash
# How much of the code that each fuzz target is about its corpus reaches, as a table.
#   usage: tests/fuzz/coverage.sh BUILD_DIRECTORY [TARGET...]
#          tests/fuzz/coverage.sh --sources TARGET        (prints what the target is about)
# BUILD_DIRECTORY: of the preset fuzz-coverage, with the target `fuzzers` built. TARGET: a name
# without "_fuzz"; none: all. llvm-cov-19 and llvm-profdata-19 are of the package llvm-19. Only what
# tests/fuzz/corpus has is run.
set -euo pipefail
[ $# -ge 1 ] || { echo "usage: $0 BUILD_DIRECTORY [TARGET...]" >&2; exit 2; }

# The sources that a target is about: what reads, judges or writes its input.
sources_of() {
  case $1 in
    audit_records) echo supervisor/audit/{audit_line,audit_writer}.cc supervisor/ipc/audit_packet.cc policy/audit/chain.cc ;;
    bundle_import) echo client/cli/import/read/{bundle_archive,bundle_settings,input_json,manifest_readers}.cc \
      client/cli/import/propose/configured_bundle.cc ;;
    catalogue) echo supervisor/gateway/catalogue/catalogue_file.cc supervisor/gateway/checks/clean_answer.cc ;;
    config) echo policy/config/config_bytes.cc policy/config_check/{config_check,server_check}.cc \
      policy/config_reader/{config_text,text_reader,toml_reader}.cc ;;
    config_bytes) echo policy/config/config_bytes.cc ;;
    egress_dns) echo policy/egress/dns_message.cc ;;
    egress_hello) echo supervisor/egress/client_hello.cc ;;
    egress_proxy) echo supervisor/egress/proxy_request.cc ;;
    host_import) echo client/cli/import/propose/{cell_toml,import_file,propose,proposed_command,proposed_paths}.cc \
      client/cli/import/read/{container_run,declared_server,host_reader,input_json,manifest_readers}.cc \
      client/cli/import/read/{named_ranges,package_run,secret_guess}.cc ;;
    json_differential) echo policy/json/{canonical_json,json_text,json_values}.cc policy/jsonrpc/jsonrpc_walk.cc \
      policy/redaction/json_tokens.cc ;;
    jsonrpc) echo policy/json/json_values.cc policy/jsonrpc/{jsonrpc,jsonrpc_walk}.cc ;;
    launcher_records) echo supervisor/launcher/child/attached_record.cc \
      supervisor/launcher/run/{cell_end,cells,channel_closer,descriptor_receivers,egress_helpers}.cc \
      supervisor/launcher/run/{home_tasks,launcher,launcher_programs}.cc ;;
    line_splitter) echo policy/jsonrpc/line_splitter.cc ;;
    message_edit) echo policy/jsonrpc/message_edit.cc ;;
    received_descriptors) echo supervisor/gateway/io/byte_io.cc supervisor/gateway/session/host_link.cc \
      supervisor/os/sys.cc supervisor/launcher/child/attached_record.cc supervisor/launcher/run/descriptor_receivers.cc ;;
    redaction) echo policy/redaction/{json_tokens,redactor,scanner,secret_finder,secret_marks}.cc ;;
    untrusted) echo policy/base/chat_tokens.cc policy/untrusted/{ordinary_use,terminal_sequence,untrusted_result,untrusted_text}.cc ;;
    *) echo "no sources are named for $1 in $0" >&2; return 1 ;;
  esac
}

if [ "$1" = --sources ]; then
  sources_of "$2"
  exit
fi
build=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")/../.."
work=$build/coverage
mkdir -p "$work"

names=("$@")
if [ ${#names[@]} = 0 ]; then
  for target in "$build"/bin/*_fuzz; do names+=("$(basename "$target" _fuzz)"); done
fi
echo "| Target | Inputs | Lines reached | Lines |"
echo "| --- | ---: | ---: | ---: |"
for name in "${names[@]}"; do
  read -ra sources < <(sources_of "$name")
  binary=$build/bin/${name}_fuzz
  rm -f "$work/$name".*.raw
  LLVM_PROFILE_FILE=$work/$name.%m.raw "$binary" -runs=0 "tests/fuzz/corpus/$name" \
    >"$work/$name.log" 2>&1 || { echo "FAIL $name, see $work/$name.log" >&2; exit 1; }
  llvm-profdata-19 merge -sparse -o "$work/$name.data" "$work/$name".*.raw
  llvm-cov-19 report "$binary" -instr-profile="$work/$name.data" "${sources[@]}" >"$work/$name.report"
  awk -v name="$name" -v inputs="$(ls "tests/fuzz/corpus/$name" | wc -l)" \
    '$1 == "TOTAL" { printf "| %s | %d | %s | %d |\n", name, inputs, $10, $8 }' "$work/$name.report"
done
