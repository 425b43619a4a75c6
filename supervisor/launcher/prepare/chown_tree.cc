#include "supervisor/launcher/prepare/chown_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace cellblock::launcher {
namespace {

// Below a tenth of a second, in which nothing else is answered.
constexpr std::size_t most_entries = 20'000;
constexpr std::size_t most_levels = 128;

struct CloseDirectory {
  void operator()(DIR* stream) const { closedir(stream); }
};
using Stream = std::unique_ptr<DIR, CloseDirectory>;

SysResult<Fd> open_entry(int directory, const char* name, int flags) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags) | O_NOFOLLOW | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  // The last component itself may be a link, which O_PATH opens as such.
  if ((flags & O_PATH) != 0) how.resolve &= ~std::uint64_t{RESOLVE_NO_SYMLINKS};
  const long fd = syscall(SYS_openat2, directory, name, &how, sizeof how);
  if (fd < 0) return sys_fail("openat2");
  return Fd(static_cast<int>(fd));
}

SysResult<Stream> read_directory(int directory) {
  Fd own = CELLBLOCK_TRY(open_entry(directory, ".", O_RDONLY | O_DIRECTORY));
  Stream stream(fdopendir(own.get()));
  if (!stream) return sys_fail("fdopendir");
  own.release();  // the stream's now
  return stream;
}

/// One walk. Depth first, with a stream per level and no recursion.
class HandOver {
 public:
  HandOver(uid_t from, const HostIds& to) : from_(from), to_(to) {}

  SysResult<void> walk(int top) {
    levels_.push_back(CELLBLOCK_TRY(read_directory(top)));
    while (!levels_.empty()) {
      errno = 0;
      // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread, and a stream of its own
      const dirent* entry = readdir(levels_.back().get());
      if (entry == nullptr && errno != 0) return sys_fail("readdir");
      CELLBLOCK_CHECK(entry == nullptr ? leave() : visit(entry->d_name));
    }
    return {};
  }

 private:
  SysResult<void> visit(const char* name) {
    if (std::string_view(name) == "." || std::string_view(name) == "..") return {};
    if (++entries_ > most_entries) return std::unexpected(SysError{"readdir", E2BIG});
    auto found = open_entry(dirfd(levels_.back().get()), name, O_PATH);
    if (!found && found.error().number == EXDEV) return {};  // mounted there: not of the home
    if (!found && found.error().number == ENOENT) return {};
    if (!found) return std::unexpected(found.error());
    struct stat status{};
    if (fstat(found->get(), &status) < 0) return sys_fail("fstat");
    if (S_ISDIR(status.st_mode)) return enter(found->get());
    if (status.st_uid != from_ || !is_only_here(status)) return {};
    return give(found->get());
  }

  SysResult<void> enter(int directory) {
    if (levels_.size() >= most_levels) return std::unexpected(SysError{"openat2", ELOOP});
    levels_.push_back(CELLBLOCK_TRY(read_directory(directory)));
    return {};
  }

  SysResult<void> leave() {
    const Stream done = std::move(levels_.back());
    levels_.pop_back();
    struct stat status{};
    if (fstat(dirfd(done.get()), &status) < 0) return sys_fail("fstat");
    return status.st_uid == from_ ? give(dirfd(done.get())) : SysResult<void>{};
  }

  // True at the last of its names.
  bool is_only_here(const struct stat& status) {
    if (status.st_nlink <= 1) return true;
    return ++names_[{status.st_dev, status.st_ino}] == status.st_nlink;
  }

  SysResult<void> give(int descriptor) const {
    if (fchownat(descriptor, "", to_.uid, to_.gid, AT_EMPTY_PATH) < 0) return sys_fail("fchownat");
    return {};
  }

  uid_t from_;
  HostIds to_;
  std::vector<Stream> levels_;
  std::map<std::pair<dev_t, ino_t>, nlink_t> names_;
  std::size_t entries_ = 0;
};

}  // namespace

SysResult<void> chown_tree(int directory, const HostIds& to) {
  struct stat status{};
  if (fstat(directory, &status) < 0) return sys_fail("fstat");
  return HandOver(status.st_uid, to).walk(directory);
}

}  // namespace cellblock::launcher
