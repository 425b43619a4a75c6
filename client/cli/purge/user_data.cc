#include "client/cli/purge/user_data.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

namespace cellblock::cli {
namespace {

namespace fs = std::filesystem;

std::unexpected<Error> cannot_look_at(const std::string& path, int number) {
  return fail(fmt::format("{}: {}", path, std::generic_category().message(number)));
}

// None: there is nothing of that name.
Result<std::optional<struct stat>> status_of(const std::string& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) == 0) return status;
  if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
  return cannot_look_at(path, errno);
}

// One daemon's own is open to its user alone: what a wrong path names is not.
Result<void> check_directory(const std::string& path, const struct stat& status) {
  if (!S_ISDIR(status.st_mode)) {
    return fail(path + " is no directory; remove it by hand if it is cellblock's");
  }
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) == 0) return {};
  return fail(fmt::format(
      "{} is open to others, as the directories of cellblockd are not (mode {:o}); remove by hand "
      "what in it is cellblock's",
      path, status.st_mode & 07777U));
}

std::uint64_t bytes_on_disk(const struct stat& status) {
  constexpr std::uint64_t block = 512;
  return static_cast<std::uint64_t>(status.st_blocks) * block;
}

Result<void> add_entry(KeptData& kept, const std::string& path, dev_t device) {
  const auto status = CELLBLOCK_TRY(status_of(path));
  if (!status) return {};
  if (status->st_dev != device) {
    return fail(path + " is on another file system, mounted there: unmount it first");
  }
  if (!S_ISDIR(status->st_mode)) ++kept.files;
  kept.bytes += bytes_on_disk(*status);
  return {};
}

Result<KeptData> measure_tree(const std::string& path, const struct stat& status) {
  KeptData kept{.path = path, .what = {}, .files = 0, .bytes = bytes_on_disk(status)};
  std::error_code error;
  fs::recursive_directory_iterator entry(path, error);
  while (!error && entry != fs::recursive_directory_iterator()) {
    CELLBLOCK_CHECK(add_entry(kept, entry->path().string(), status.st_dev));
    entry.increment(error);
  }
  if (error) return cannot_look_at(path, error.value());
  return kept;
}

Result<void> add_directory(std::vector<KeptData>& found, const std::string& path,
                           const char* what) {
  const auto status = CELLBLOCK_TRY(status_of(path));
  if (!status) return {};
  CELLBLOCK_CHECK(check_directory(path, *status));
  KeptData kept = CELLBLOCK_TRY(measure_tree(path, *status));
  kept.what = what;
  found.push_back(std::move(kept));
  return {};
}

// `log`, `log.1`, ...: only those, since the directory may be a shared one.
bool is_of_log(const std::string& name, const std::string& log) {
  if (name == log) return true;
  if (!name.starts_with(log + ".") || name.size() == log.size() + 1) return false;
  return std::all_of(name.begin() + static_cast<std::ptrdiff_t>(log.size()) + 1, name.end(),
                     [](char c) { return c >= '0' && c <= '9'; });
}

Result<void> add_log(std::vector<KeptData>& found, const fs::path& log) {
  std::error_code error;
  fs::directory_iterator entry(log.parent_path(), error);
  if (error == std::errc::no_such_file_or_directory) return {};
  std::vector<KeptData> files;
  while (!error && entry != fs::directory_iterator()) {
    const std::string path = entry->path().string();
    if (is_of_log(entry->path().filename().string(), log.filename().string())) {
      const auto status = CELLBLOCK_TRY(status_of(path));
      if (status && !S_ISDIR(status->st_mode)) {
        files.push_back({path, "the audit log", 1, bytes_on_disk(*status)});
      }
    }
    entry.increment(error);
  }
  if (error) return cannot_look_at(log.parent_path().string(), error.value());
  std::ranges::sort(files, {}, &KeptData::path);
  std::ranges::move(files, std::back_inserter(found));
  return {};
}

bool is_below(const fs::path& path, const fs::path& directory) {
  const auto relative = path.lexically_relative(directory);
  return !relative.empty() && *relative.begin() != "..";
}

}  // namespace

Result<client::OwnedFd> lock_state(const std::string& state_directory) {
  client::OwnedFd directory(
      ::open(state_directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (directory.get() < 0 && errno == ENOENT) return directory;
  if (directory.get() < 0) return cannot_look_at(state_directory, errno);
  if (::flock(directory.get(), LOCK_EX | LOCK_NB) == 0) return directory;
  if (errno != EWOULDBLOCK) return cannot_look_at(state_directory, errno);
  return fail(
      fmt::format("{} is in use: cellblockd runs; stop it first (systemctl stop "
                  "cellblock.socket cellblock.service)",
                  state_directory));
}

Result<std::vector<KeptData>> kept_data(const DataPlaces& places) {
  std::vector<KeptData> found;
  CELLBLOCK_CHECK(add_directory(found, places.state_directory,
                                "homes of cells, accepted definitions, the switch"));
  if (!is_below(places.audit_log, places.state_directory)) {
    CELLBLOCK_CHECK(add_log(found, places.audit_log));
  }
  if (!places.anchors.empty()) {
    CELLBLOCK_CHECK(add_directory(found, places.anchors, "how far the audit log was verified"));
  }
  return found;
}

Result<void> remove_data(const KeptData& kept) {
  std::error_code error;
  fs::remove_all(kept.path, error);
  if (!error || error == std::errc::no_such_file_or_directory) return {};
  return fail(fmt::format("{} is not removed, or not all of it: {}", kept.path, error.message()));
}

}  // namespace cellblock::cli
