#include "client/cli/commands/program_run.h"

#include <algorithm>
#include <cstdio>
#include <exception>

#include "client/cli/commands/commands.h"
#include "client/cli/table/shared_options.h"
#include "client/cli/terminal/stdio.h"

namespace cellblock::cli {
namespace {

int failed(const char* why) {
  static_cast<void>(std::fprintf(stderr, "cellblock: %s\n", why));
  return static_cast<int>(Exit::error);
}

// What was printed may be lying in a buffer still: a full disk is heard of here, or never.
int ended(Exit how) {
  const bool is_written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (is_written || how != Exit::ok) return static_cast<int>(how);
  return failed("its output could not be written whole");
}

Context context_for(const CommandLine& line, std::span<char* const> arguments) {
  Context context = context_of(line.words);
  const auto& options = line.command->options;
  const bool has_timeout = std::ranges::find(options, &timeout_option) != options.end();
  context.patience = has_timeout ? Patience::asked_for : Patience::fixed;
  context.arguments = arguments;
  return context;
}

}  // namespace

Exit run_command_line(std::span<char* const> arguments,
                      Exit (*perform)(const Context& context, const CommandLine& line)) {
  const Command table = program();
  const auto line = read_command_line(table, arguments);
  return line ? perform(context_for(*line, arguments), *line) : line.error();
}

int run_program(std::span<char* const> arguments, Exit (*run)(std::span<char* const> arguments)) {
  fill_closed_stdio();
  try {
    return ended(run(arguments));
  } catch (const std::exception& failure) {
    return failed(failure.what());
  }
}

}  // namespace cellblock::cli
