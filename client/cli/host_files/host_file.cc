#include "client/cli/host_files/host_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <utility>

#include "client/cli/add/added_files.h"
#include "client/cli/import/read/bounded_file.h"
#include "client/cli/import/read/input_json.h"
#include "client/cli/programs/own_directory.h"
#include "client/cli/terminal/terminal_text.h"
#include "client/connection/fd.h"
#include "policy/encoding/hex.h"
#include "policy/encoding/sha256.h"

namespace cellblock::cli {
namespace {

// The user's own files, read and put in place without following a link.

struct FileAt {
  std::string path;          ///< as people are told of it
  std::string name;          ///< in that directory
  int directory = AT_FDCWD;  ///< open
};

struct OwnFile {
  std::string text;
  struct stat status{};
};

constexpr mode_t closed_to_others = 0600;
constexpr mode_t all_permissions = 07777;

std::string_view why_not_of(uid_t user, const struct stat& status) {
  if (!S_ISREG(status.st_mode)) return "it is no regular file";
  if (status.st_uid != user) return "it belongs to another user";
  if (status.st_nlink != 1) return "it has a second name (a hard link)";
  return {};
}

// Why it cannot be used, by errno.
std::unexpected<Error> file_failed(const std::string& path, int error) {
  const std::string why = error == ELOOP ? "it is a link: name the file that it leads to"
                                         : std::generic_category().message(error);
  return fail(fmt::format("{}: {}", safe_line(path), why));
}

// Group first: a change of it can take permissions away.
bool take_attributes(int file, const struct stat& from) {
  const bool has_group =
      from.st_gid == ::getegid() || ::fchown(file, static_cast<uid_t>(-1), from.st_gid) == 0;
  return has_group && ::fchmod(file, from.st_mode & all_permissions) == 0;
}

// An error: it is a link, no regular file, another user's, has a second name, or is longer.
Result<OwnFile> read_of(uid_t user, const FileAt& file, std::size_t most) {
  const client::OwnedFd open(
      ::openat(file.directory, file.name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  OwnFile read;
  if (!open.valid() || ::fstat(open.get(), &read.status) != 0) {
    return file_failed(file.path, errno);
  }
  const auto wrong = why_not_of(user, read.status);
  if (!wrong.empty()) return fail(fmt::format("{}: {}", safe_line(file.path), wrong));
  read.text = CELLBLOCK_TRY(read_all(open.get(), file.path, most));
  return read;
}

Result<OwnFile> read_own(const FileAt& file, std::size_t most) {
  return read_of(::geteuid(), file, most);
}

// Puts `text` into its place at once, with the mode and group of `attributes`. Written beside it
// first: a reader finds the old text or the new one.
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

FileAt at_path(const std::string& path) { return {.path = path, .name = path}; }

}  // namespace

Result<std::string> own_file(const std::string& path) {
  auto file = CELLBLOCK_TRY(read_own(at_path(path), max_host_file_bytes));
  return std::move(file.text);
}

Result<std::string> file_of(const std::string& path, unsigned uid) {
  auto file = CELLBLOCK_TRY(read_of(uid, at_path(path), max_host_file_bytes));
  return std::move(file.text);
}

Result<void> replace_own_file(const std::string& path, const std::string& before,
                              const std::string& text) {
  const auto now = CELLBLOCK_TRY(read_own(at_path(path), max_host_file_bytes));
  if (now.text != before) {
    return fail(
        fmt::format("{}: it was changed meanwhile: end its host, and try again", safe_line(path)));
  }
  return put_own(at_path(path), text, now.status);
}

namespace {

namespace fs = std::filesystem;

constexpr mode_t directory_mode = 0700;
constexpr mode_t backup_mode = 0600;
// The text as a JSON text: each quote in it is two bytes.
constexpr std::size_t max_backup_bytes = (2 * max_host_file_bytes) + (1U << 20);

constexpr const char* own_part = "cellblock";
constexpr const char* hosts_part = "hosts";

Result<std::string> backup_home() {
  auto home = own_directory(state_home);
  if (!home.empty()) return home;
  return fail("XDG_STATE_HOME and HOME are not set: there is no place to keep the old text");
}

// The same for each way to it that leads through linked directories.
std::string whole_path(const std::string& file) {
  std::error_code ignored;
  const auto absolute = fs::absolute(file, ignored).lexically_normal();
  return (fs::weakly_canonical(absolute.parent_path(), ignored) / absolute.filename()).string();
}

std::string backup_name(const std::string& file) {
  return hex_text(sha256(whole_path(file))) + ".json";
}

enum class Making : std::uint8_t { missing, nothing };

// Whoever else could write into it could put another text where ours is looked for.
Result<client::OwnedFd> open_closed(int parent, const char* name, const std::string& path,
                                    Making making) {
  const bool makes = making == Making::missing;
  if (makes && ::mkdirat(parent, name, directory_mode) != 0 && errno != EEXIST) {
    return file_failed(path, errno);
  }
  client::OwnedFd directory(
      ::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status{};
  if (!directory.valid() || ::fstat(directory.get(), &status) != 0) {
    return file_failed(path, errno);
  }
  constexpr mode_t writable_by_others = 0022;
  const bool is_own = status.st_uid == ::geteuid() && (status.st_mode & writable_by_others) == 0;
  if (is_own) return directory;
  return fail(
      fmt::format("{}: others may write into it, or it is another user's", safe_line(path)));
}

struct BackupPlace {
  client::OwnedFd directory;
  FileAt file;
};

Result<BackupPlace> open_place(const std::string& file, Making making) {
  const auto home = CELLBLOCK_TRY(backup_home());
  const std::string name = backup_name(file);
  if (making == Making::missing) CELLBLOCK_CHECK(make_place(home, directory_mode));
  const client::OwnedFd state(::open(home.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!state.valid()) return file_failed(home, errno);
  const auto own_path = home + "/" + own_part;
  const auto own = CELLBLOCK_TRY(open_closed(state.get(), own_part, own_path, making));
  const auto hosts_path = own_path + "/" + hosts_part;
  auto hosts = CELLBLOCK_TRY(open_closed(own.get(), hosts_part, hosts_path, making));
  const int number = hosts.get();
  return BackupPlace{std::move(hosts),
                     {.path = hosts_path + "/" + name, .name = name, .directory = number}};
}

}  // namespace

Result<std::string> backup_of(const std::string& file) {
  const auto home = CELLBLOCK_TRY(backup_home());
  const std::string name = backup_name(file);
  return fmt::format("{}/{}/{}/{}", home, own_part, hosts_part, name);
}

// A link counts: it is refused, with a word, where it is opened.
bool has_backup(const std::string& file) {
  const auto path = backup_of(file);
  struct stat status{};
  return path && ::lstat(path->c_str(), &status) == 0;
}

Result<std::string> read_backup(const std::string& file) {
  if (!has_backup(file)) {
    return fail(fmt::format("{}: it was not changed by cellblock, or that was taken back already",
                            safe_line(file)));
  }
  const auto place = CELLBLOCK_TRY(open_place(file, Making::nothing));
  const auto kept = CELLBLOCK_TRY(read_own(place.file, max_backup_bytes));
  const auto json = json_of_json(kept.text);
  const bool is_backup =
      json && json->is_object() && json->contains("text") && json->at("text").is_string();
  if (is_backup) return json->at("text").get<std::string>();
  return fail(fmt::format("{}: it is not what cellblock writes there", safe_line(place.file.path)));
}

// Whose it is stands in it for people: nobody can tell by the digest.
Result<void> write_backup(const std::string& file, const std::string& text) {
  const auto place = CELLBLOCK_TRY(open_place(file, Making::missing));
  const nlohmann::ordered_json json{{"file", whole_path(file)}, {"text", text}};
  struct stat attributes{};
  attributes.st_mode = backup_mode;
  attributes.st_gid = ::getegid();
  return put_own(place.file,
                 json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n",
                 attributes);
}

Result<void> remove_backup(const std::string& file) {
  if (!has_backup(file)) return {};
  const auto place = CELLBLOCK_TRY(open_place(file, Making::nothing));
  if (::unlinkat(place.file.directory, place.file.name.c_str(), 0) == 0) return {};
  return file_failed(place.file.path, errno);
}

}  // namespace cellblock::cli
