#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <functional>
#include <span>
#include <string_view>

#include "client/cli/commands/commands.h"
#include "client/cli/commands/flags.h"
#include "client/cli/terminal/stdio.h"

namespace {

using cellblock::cli::Exit;
using cellblock::cli::Output;

int failed(const char* why) {
  static_cast<void>(std::fprintf(stderr, "cellblock: %s\n", why));
  return static_cast<int>(Exit::error);
}

// Where the flags could not be parsed.
Output wanted_output(std::span<char* const> words) {
  for (const std::string_view word : words) {
    if (word == "--") break;
    if (word == "--json") return Output::json;
  }
  return Output::human;
}

// What was printed may be lying in a buffer still: a full disk is heard of here, or never.
int ended(Exit how) {
  const bool is_written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (is_written || how != Exit::ok) return static_cast<int>(how);
  return failed("its output could not be written whole");
}

}  // namespace

int main(int argc, char** argv) {
  cellblock::cli::fill_closed_stdio();
  const std::span words(argv, static_cast<std::size_t>(argc));
  CLI::App app;
  std::function<Exit()> command;
  try {
    cellblock::cli::declare(app, command);
    cellblock::cli::parse(app, words);
    return ended(command());
  } catch (const CLI::ParseError& stop) {
    return ended(static_cast<Exit>(cellblock::cli::exit_after(app, stop, wanted_output(words))));
  } catch (const std::exception& failure) {
    return failed(failure.what());
  }
}
