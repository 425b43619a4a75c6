// cellblock-tools: carries out the commands of `cellblock` that need libraries which the others do
// without. `cellblock` executes it with its own words.

#include <fmt/format.h>

#include <cstdio>
#include <span>

#include "client/cli/commands/program_run.h"
#include "client/cli/tools/tools.h"

namespace {

using namespace cellblock::cli;

Exit not_here(std::string_view command) {
  fmt::print(stderr, "cellblock-tools: \"{}\" is a command of `cellblock` alone: call that\n",
             command);
  return Exit::usage;
}

Exit carry_out(const Context& context, const CommandLine& line) {
  switch (line.command->tool) {
    case Tool::add:
      return run_add(context, line.words);
    case Tool::added_list:
      return run_servers(context, line.words);
    case Tool::added_removal:
      return run_remove(context, line.words);
    case Tool::added_update:
      return run_update(context, line.words);
    case Tool::audit_verify:
      return run_audit_verify(context, line.words);
    case Tool::authorize:
      return run_auth(context, line.words);
    case Tool::connect_by_line:
      return run_run(context, line.words);
    case Tool::doctor:
      return run_doctor(context, line.words);
    case Tool::export_to_host:
      return run_export(context, line.words);
    case Tool::import_from_host:
      return run_import(context, line.words);
    case Tool::inspect:
      return run_inspect(context, line.words);
    case Tool::learn:
      return run_learn(context, line.words);
    case Tool::purge:
      return run_purge(context, line.words);
    case Tool::scan:
      return run_scan(context, line.words);
    case Tool::setup:
      return run_setup(context, line.words);
    case Tool::ui:
      return run_ui(context, line.words);
    case Tool::watch:
      return run_top(context, line.words);
    case Tool::none:
      break;
  }
  return not_here(line.command->name);
}

Exit run(std::span<char* const> arguments) { return run_command_line(arguments, carry_out); }

}  // namespace

int main(int argc, char** argv) { return run_program({argv, static_cast<std::size_t>(argc)}, run); }
