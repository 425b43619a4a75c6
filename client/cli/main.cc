#include <CLI/CLI.hpp>
#include <exception>
#include <functional>

#include "client/cli/commands.h"
#include "client/cli/flags.h"
#include "client/cli/stdio.h"

int main(int argc, char** argv) {
  cellblock::cli::fill_closed_stdio();
  CLI::App app;
  std::function<cellblock::cli::Exit()> command;
  try {
    cellblock::cli::declare(app, command);
    app.parse(argc, argv);
    return static_cast<int>(command());
  } catch (const CLI::ParseError& stop) {
    return cellblock::cli::exit_after(app, stop);
  } catch (const std::exception& failure) {
    static_cast<void>(std::fputs(failure.what(), stderr));
    return static_cast<int>(cellblock::cli::Exit::error);
  }
}
