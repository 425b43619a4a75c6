#include "supervisor/launcher/prepare/image_listing.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "supervisor/launcher/prepare/host_tree.h"

namespace cellblock::launcher {
namespace {

// Each is a mount of the template.
constexpr std::size_t most_image_entries = 1024;

struct CloseListing {
  void operator()(DIR* directory) const { closedir(directory); }
};
using OpenListing = std::unique_ptr<DIR, CloseListing>;

SysResult<std::string> link_at(int directory, const char* name) {
  std::array<char, PATH_MAX> target{};
  const ssize_t size = readlinkat(directory, name, target.data(), target.size());
  if (size < 0) return sys_fail("readlinkat");
  return std::string(target.data(), static_cast<std::size_t>(size));
}

SysResult<std::optional<ImageEntry>> entry_at(int directory, const char* name) {
  struct stat found{};
  if (fstatat(directory, name, &found, AT_SYMLINK_NOFOLLOW) < 0) return sys_fail("fstatat");
  if (S_ISLNK(found.st_mode)) {
    return ImageEntry{name, EntryKind::symbolic_link, CELLBLOCK_TRY(link_at(directory, name))};
  }
  if (!S_ISDIR(found.st_mode) && !S_ISREG(found.st_mode)) return std::nullopt;
  return ImageEntry{name, EntryKind::bind, ""};
}

bool is_dot(const std::string& name) { return name == "." || name == ".."; }

SysResult<std::vector<ImageEntry>> list(Fd directory, std::size_t room) {
  const OpenListing stream(fdopendir(directory.get()));
  if (!stream) return sys_fail("fdopendir");
  directory.release();  // the stream's from here
  std::vector<ImageEntry> entries;
  for (;;) {
    errno = 0;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours alone
    const dirent* next = readdir(stream.get());
    if (next == nullptr && errno != 0) return sys_fail("readdir");
    if (next == nullptr) return entries;
    if (is_dot(next->d_name)) continue;
    auto entry = CELLBLOCK_TRY(entry_at(dirfd(stream.get()), next->d_name));
    if (!entry) continue;
    if (entries.size() == room) return std::unexpected(SysError{"readdir", E2BIG});
    entries.push_back(std::move(*entry));
  }
}

bool is_no_directory(int number) {
  return number == ENOENT || number == ENOTDIR || number == ELOOP;
}

}  // namespace

SysResult<ImageListing> list_image(int host, const std::string& image,
                                   const std::vector<std::string>& directories) {
  const Fd top = CELLBLOCK_TRY(open_strictly(host, image.c_str(), O_PATH | O_DIRECTORY));
  ImageListing listing;
  std::size_t room = most_image_entries;
  for (const std::string& path : directories) {
    auto directory = open_strictly(top.get(), path.c_str(), O_RDONLY | O_DIRECTORY);
    if (!directory && path != "/" && is_no_directory(directory.error().number)) continue;
    if (!directory) return std::unexpected(directory.error());
    auto entries = CELLBLOCK_TRY(list(std::move(*directory), room));
    room -= entries.size();
    listing.emplace(path, std::move(entries));
  }
  return listing;
}

}  // namespace cellblock::launcher
