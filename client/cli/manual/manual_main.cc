#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "client/cli/commands/commands.h"
#include "client/cli/manual/manual.h"

namespace {

bool write(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  return static_cast<bool>(file.flush());
}

std::string text_of(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool write_all(const std::string& directory, const std::string& markdown) {
  using namespace cellblock::cli;
  const Command table = program();
  return write(directory + "/cellblock.1", manual_page(table, CELLBLOCK_VERSION)) &&
         write(directory + "/cellblock.toml.5", configuration_page(markdown, CELLBLOCK_VERSION));
}

}  // namespace

// A step of the build: writes the manual pages into a directory.
// cellblock-manual DIRECTORY PAGE...: the pages of the configuration, in their order.
int main(int argc, char** argv) {
  if (argc < 3) return 2;
  try {
    std::string markdown;
    for (int i = 2; i < argc; ++i) {
      const auto page = text_of(argv[i]);
      if (page.empty()) return 1;
      if (i > 2) markdown += '#';  // of these pages the title is a heading
      markdown += page;
    }
    return write_all(argv[1], markdown) ? 0 : 1;
  } catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';
    return 1;
  }
}
