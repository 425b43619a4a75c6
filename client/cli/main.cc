#include <algorithm>
#include <cstdio>
#include <exception>
#include <span>
#include <string_view>

#include "client/cli/commands/commands.h"
#include "client/cli/table/parser.h"
#include "client/cli/table/shared_options.h"
#include "client/cli/terminal/stdio.h"

namespace {

using namespace cellblock::cli;

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

Exit run(const CommandLine& line) {
  Context context = context_of(line.words);
  const auto& options = line.command->options;
  const bool has_timeout = std::ranges::find(options, &timeout_option) != options.end();
  context.patience = has_timeout ? Patience::asked_for : Patience::fixed;
  return line.command->run(context, line.words);
}

}  // namespace

int main(int argc, char** argv) {
  fill_closed_stdio();
  try {
    const Command table = program();
    const std::span arguments(argv, static_cast<std::size_t>(argc));
    // Its words are half a command line: they are not parsed.
    if (arguments.size() > 1 && std::string_view(arguments[1]) == "__complete") {
      return ended(complete(table, arguments.subspan(2)));
    }
    const auto line = read_command_line(table, arguments);
    return ended(line ? run(*line) : line.error());
  } catch (const std::exception& failure) {
    return failed(failure.what());
  }
}
