#include "client/cli/host_files/file_at.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include "client/cli/import/bounded_file.h"
#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

constexpr mode_t closed_to_others = 0600;
constexpr mode_t all_permissions = 07777;

std::string_view why_not_own(const struct stat& status) {
  if (!S_ISREG(status.st_mode)) return "it is no regular file";
  if (status.st_uid != ::geteuid()) return "it belongs to another user";
  if (status.st_nlink != 1) return "it has a second name (a hard link)";
  return {};
}

// Group first: a change of it can take permissions away.
bool take_attributes(int file, const struct stat& from) {
  const bool has_group =
      from.st_gid == ::getegid() || ::fchown(file, static_cast<uid_t>(-1), from.st_gid) == 0;
  return has_group && ::fchmod(file, from.st_mode & all_permissions) == 0;
}

}  // namespace

Result<OwnFile> read_own(const FileAt& file, std::size_t most) {
  const client::OwnedFd open(
      ::openat(file.directory, file.name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  OwnFile read;
  if (!open.valid() || ::fstat(open.get(), &read.status) != 0) {
    return file_failed(file.path, errno);
  }
  const auto wrong = why_not_own(read.status);
  if (!wrong.empty()) return fail(fmt::format("{}: {}", safe_line(file.path), wrong));
  read.text = CELLBLOCK_TRY(read_all(open.get(), file.path, most));
  return read;
}

// Written beside it first: whoever reads meets the old text or the new one.
Result<void> put_own(const FileAt& file, const std::string& text, const struct stat& attributes) {
  constexpr const char* suffix = ".cellblock-new";
  const auto fresh = file.name + suffix;
  ::unlinkat(file.directory, fresh.c_str(), 0);
  const client::OwnedFd open(::openat(file.directory, fresh.c_str(),
                                      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                                      closed_to_others));
  if (!open.valid()) return file_failed(file.path + suffix, errno);
  auto put = write_all(open.get(), file.path, text);
  const bool is_put =
      put && ::fsync(open.get()) == 0 && take_attributes(open.get(), attributes) &&
      ::renameat(file.directory, fresh.c_str(), file.directory, file.name.c_str()) == 0;
  if (is_put) return {};
  if (put) put = file_failed(file.path, errno);
  ::unlinkat(file.directory, fresh.c_str(), 0);
  return put;
}

std::unexpected<Error> file_failed(const std::string& path, int error) {
  const std::string why = error == ELOOP ? "it is a link: name the file that it leads to"
                                         : std::generic_category().message(error);
  return fail(fmt::format("{}: {}", safe_line(path), why));
}

}  // namespace cellblock::cli
