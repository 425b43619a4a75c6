#include <span>
#include <string_view>

#include "client/cli/commands/commands.h"
#include "client/cli/commands/program_run.h"
#include "client/cli/programs/tools_program.h"

namespace {

using namespace cellblock::cli;

Exit carry_out(const Context& context, const CommandLine& line) {
  const Command& command = *line.command;
  return command.run != nullptr ? command.run(context, line.words) : execute_tools(context);
}

Exit run(std::span<char* const> arguments) {
  // Its words are half a command line: they are not parsed.
  if (arguments.size() > 1 && std::string_view(arguments[1]) == "__complete") {
    return complete(program(), arguments.subspan(2));
  }
  return run_command_line(arguments, carry_out);
}

}  // namespace

int main(int argc, char** argv) { return run_program({argv, static_cast<std::size_t>(argc)}, run); }
