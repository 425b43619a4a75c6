#include "client/cli/import/read/bounded_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "client/cli/terminal/terminal_text.h"
#include "client/connection/fd.h"

namespace cellblock::cli {
namespace {

std::unexpected<Error> cannot(const std::string& path, const std::string& why) {
  return fail(fmt::format("{}: {}", safe_line(path), why));
}

std::unexpected<Error> failed(const std::string& path) {
  return cannot(path, std::generic_category().message(errno));
}

}  // namespace

Result<std::string> read_all(int descriptor, const std::string& path, std::size_t most) {
  std::string text;
  std::array<char, 16384> bytes{};
  while (text.size() <= most) {
    const auto count = ::read(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed(path);
    if (count == 0) return text;
    text.append(bytes.data(), static_cast<std::size_t>(count));
  }
  return cannot(path, fmt::format("it is longer than {} bytes", most));
}

Result<void> write_all(int descriptor, const std::string& path, std::string_view text) {
  while (!text.empty()) {
    const auto count = ::write(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed(path);
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

Result<std::string> bounded_file(const std::string& path, std::size_t most) {
  if (path == "-") return read_all(STDIN_FILENO, "stdin", most);
  const client::OwnedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!file.valid()) return failed(path);
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return failed(path);
  if (!S_ISREG(status.st_mode)) return cannot(path, "it is no regular file");
  return read_all(file.get(), path, most);
}

Result<void> write_new_file(const std::string& path, const std::string& text) {
  const client::OwnedFd file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!file.valid() && errno == EEXIST) {
    return cannot(path, "it is there already, and is not written over");
  }
  if (!file.valid()) return failed(path);
  const auto written = write_all(file.get(), path, text);
  // Half a file would be taken for a whole one.
  if (!written) ::unlink(path.c_str());
  return written;
}

}  // namespace cellblock::cli
