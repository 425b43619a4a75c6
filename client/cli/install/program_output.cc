#include "client/cli/install/program_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "client/cli/programs/program_start.h"
#include "client/cli/terminal/terminal_text.h"
#include "client/connection/fd.h"

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

namespace {

constexpr std::size_t most_output = 1U << 20;

// What is beyond the bound is read and forgotten, so that the program does not wait for room.
std::string read_whole(int descriptor) {
  std::string text;
  std::array<char, 8192> bytes{};
  while (true) {
    const auto count = ::read(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    const auto room = most_output - text.size();
    text.append(bytes.data(), std::min(room, static_cast<std::size_t>(count)));
  }
}

int status_of(pid_t process) {
  constexpr int by_signal = 128;
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
  return WIFSIGNALED(status) ? by_signal + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

Result<ProgramOutput> output_of(const std::vector<std::string>& words, Errors errors) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) < 0) {
    return fail(fmt::format("pipe: {}", std::generic_category().message(errno)));
  }
  const client::OwnedFd reading(ends[0]);
  client::OwnedFd writing(ends[1]);
  // What lies in the current directory is somebody's: npm would read its .npmrc.
  const auto process =
      CELLBLOCK_TRY(start_program({.words = words,
                                   .output = writing.get(),
                                   .errors = errors == Errors::caught ? writing.get() : -1,
                                   .directory = "/"}));
  writing = client::OwnedFd();
  auto text = read_whole(reading.get());
  return ProgramOutput{.text = std::move(text), .status = status_of(process)};
}

}  // namespace cellblock::cli
