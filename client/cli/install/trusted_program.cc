#include "client/cli/install/trusted_program.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "client/cli/common/program_start.h"
#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

namespace fs = std::filesystem;

constexpr mode_t writable_by_others = S_IWGRP | S_IWOTH;

// In a directory like /tmp others cannot put anything in the place of what is there.
bool is_roots_alone(const struct stat& status) {
  const bool is_sticky = S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0;
  return status.st_uid == 0 && ((status.st_mode & writable_by_others) == 0 || is_sticky);
}

}  // namespace

Result<std::string> trusted_program(const std::string& program) {
  if (::geteuid() != 0) return program;
  for (fs::path path = program;; path = path.parent_path()) {
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0) {
      return fail(
          fmt::format("{}: {}", safe_line(path.string()), std::generic_category().message(errno)));
    }
    if (!is_roots_alone(status)) {
      return fail(
          fmt::format("root does not run {}, since others may change {}; allowed: a "
                      "program of root's in directories of root's",
                      safe_line(program), safe_line(path.string())));
    }
    if (path == path.parent_path()) return program;
  }
}

Result<std::string> program_in_path(const std::string& name) {
  auto path = environment_variable("PATH");
  if (path.empty()) path = "/usr/local/bin:/usr/bin";
  std::string_view rest = path;
  while (!rest.empty()) {
    const auto end = std::min(rest.find(':'), rest.size());
    const auto candidate = std::string(rest.substr(0, end)) + "/" + name;
    std::error_code missing;
    if (candidate.starts_with('/') && ::access(candidate.c_str(), X_OK) == 0) {
      return trusted_program(fs::canonical(candidate, missing).string());
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return std::string();
}

}  // namespace cellblock::cli
