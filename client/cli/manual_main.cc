#include <exception>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>

#include "client/cli/flags.h"
#include "client/cli/manual.h"

// A step of the build: writes cellblock.1 and the completion for bash into a directory.
int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    CLI::App app;
    std::function<cellblock::cli::Exit()> command;
    cellblock::cli::declare(app, command);
    const std::string directory = argv[1];
    std::ofstream(directory + "/cellblock.1")
        << cellblock::cli::manual_page(app, CELLBLOCK_VERSION);
    std::ofstream completion(directory + "/cellblock.bash");
    completion << cellblock::cli::bash_completion(app);
    return completion.flush() ? 0 : 1;
  } catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';
    return 1;
  }
}
