#include "client/cli/install/program_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "client/cli/common/program_start.h"
#include "client/connection/fd.h"

namespace cellblock::cli {
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
