#include "client/cli/programs/installation.h"

#include <unistd.h>

#include <array>
#include <climits>
#include <cstddef>
#include <filesystem>

namespace cellblock::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* tools_name = "cellblock-tools";

std::string program_path() {
  std::array<char, PATH_MAX> path{};
  const auto length = ::readlink("/proc/self/exe", path.data(), path.size());
  return {path.data(), length > 0 ? static_cast<std::size_t>(length) : 0};
}

std::string joined(const fs::path& directory, const char* relative) {
  return (directory / relative).lexically_normal().string();
}

// The directory of `cellblock` in an installation.
fs::path command_directory(const fs::path& program) {
  const auto directory = program.parent_path();
  return program.filename() == tools_name ? fs::path(joined(directory, CELLBLOCK_LIBEXEC_TO_BIN))
                                          : directory;
}

bool is_there(const fs::path& path) { return ::access(path.c_str(), F_OK) == 0; }

// Installed, cellblock-tools is not beside cellblock.
bool is_installed(const fs::path& program) {
  const auto directory = program.parent_path();
  return program.filename() == tools_name ? !is_there(directory / "cellblock")
                                          : is_there(directory / CELLBLOCK_BIN_TO_LIBEXEC);
}

}  // namespace

Installation build_tree_of(const std::string& program) {
  const auto directory = fs::path(program).parent_path();
  return {.command = directory / "cellblock",
          .daemon = directory / "cellblockd",
          .tools = directory / tools_name,
          .recipes = directory.parent_path() / "share/cellblock/recipes"};
}

Installation installation_of(const std::string& program) {
  const auto directory = command_directory(program);
  return {.command = directory / "cellblock",
          .daemon = joined(directory, CELLBLOCK_BIN_TO_SBIN "/cellblockd"),
          .tools = joined(directory, CELLBLOCK_BIN_TO_LIBEXEC "/cellblock-tools"),
          .recipes = joined(directory, CELLBLOCK_BIN_TO_DATA "/recipes")};
}

const Installation& own_installation() {
  static const Installation own = [] {
    const auto path = program_path();
    return is_installed(path) ? installation_of(path) : build_tree_of(path);
  }();
  return own;
}

}  // namespace cellblock::cli
