#include "supervisor/launcher/prepare/state_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>
#include <vector>

#include "supervisor/launcher/prepare/host_tree.h"

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

namespace {

constexpr std::size_t max_ids_bytes = 16U << 20;

SysResult<Fd> open_or_make_directory(int parent, const std::string& name, mode_t mode) {
  if (mkdirat(parent, name.c_str(), mode) < 0 && errno != EEXIST) return sys_fail("mkdirat");
  return open_at(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

// What a crash or a full disk left of a line is cut off again: the pair never used that id, and the
// next line must not be glued to it.
SysResult<std::string> read_whole_lines(int file) {
  const auto bytes = CELLBLOCK_TRY(read_all(file, max_ids_bytes, Sealing::any));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t whole = text.rfind('\n') + 1;  // npos + 1 is 0
  if (whole != text.size() && ftruncate(file, static_cast<off_t>(whole)) < 0) {
    return sys_fail("ftruncate");
  }
  return std::string(text.substr(0, whole));
}

SysResult<void> append_line(int file, const std::string& line) {
  struct stat before{};
  if (fstat(file, &before) < 0) return sys_fail("fstat");
  auto written = write_all(file, line);
  if (written && fdatasync(file) < 0) written = sys_fail("fdatasync");
  // A line that may not be there must not be: its id is going to be offered again.
  if (!written && ftruncate(file, before.st_size) < 0) return sys_fail("ftruncate");
  return written;
}

SysResult<Fd> detached(int directory, Execution execution) {
  Fd tree = CELLBLOCK_TRY(clone_tree(directory));
  const std::uint64_t noexec = execution == Execution::refused ? MOUNT_ATTR_NOEXEC : 0;
  CELLBLOCK_CHECK(
      add_attributes(tree.get(), MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | noexec, Reach::whole_tree));
  return tree;
}

}  // namespace

Result<StateDirectory> StateDirectory::open(Fd directory, std::uint32_t first_id,
                                            std::uint32_t ids) {
  Fd file = CELLBLOCK_TRY(
      open_at(directory.get(), "ids", O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW, 0600));
  const std::string lines = CELLBLOCK_TRY(read_whole_lines(file.get()));
  IdTable table(first_id, ids);
  if (const auto restored = table.restore(lines); !restored) {
    return fail("the state directory's file \"ids\": " + restored.error().text);
  }
  return StateDirectory(std::move(directory), std::move(file), std::move(table));
}

SysResult<std::uint32_t> StateDirectory::id_for(const std::string& server, std::uint32_t user) {
  const auto found = table_.find(server, user);
  if (!found) return std::unexpected(SysError{"find", ERANGE});
  if (found->standing == IdTable::Standing::free) {
    CELLBLOCK_CHECK(append_line(ids_.get(), IdTable::format(server, user, found->id)));
    table_.assign(server, user, found->id);
  }
  return found->id;
}

SysResult<void> StateDirectory::reserve(const std::string& server, std::uint32_t user,
                                        std::uint32_t id) {
  const auto found = table_.find(server, user);
  if (found && found->standing == IdTable::Standing::assigned) {
    if (found->id == id) return {};
    return std::unexpected(SysError{"reserve", EEXIST});
  }
  if (!table_.is_free(id)) return std::unexpected(SysError{"reserve", EEXIST});
  CELLBLOCK_CHECK(append_line(ids_.get(), IdTable::format(server, user, id)));
  table_.assign(server, user, id);
  return {};
}

// A walk stops everything else in this process: whoever asks again gets the answer without one.
SysResult<void> StateDirectory::give(int home, const Home& wanted) {
  const std::pair key{wanted.server, wanted.user};
  const auto before = not_given_.find(key);
  if (before != not_given_.end()) return std::unexpected(before->second);
  auto given = chown_tree(home, wanted.owner);
  if (!given) not_given_.emplace(key, given.error());
  return given;
}

SysResult<Fd> StateDirectory::home_tree(const Home& wanted, Execution execution) {
  const Fd homes = CELLBLOCK_TRY(open_or_make_directory(directory_.get(), "home", 0711));
  const Fd of_server = CELLBLOCK_TRY(open_or_make_directory(homes.get(), wanted.server, 0711));
  const Fd home =
      CELLBLOCK_TRY(open_or_make_directory(of_server.get(), std::to_string(wanted.user), 0700));
  struct stat found{};
  if (fstat(home.get(), &found) < 0) return sys_fail("fstat");
  // Without the capability over a foreign owner this fails, as it must.
  if (found.st_uid != wanted.owner.uid || found.st_gid != wanted.owner.gid) {
    CELLBLOCK_CHECK(give(home.get(), wanted));
  }
  return detached(home.get(), execution);
}

SysResult<StateDirectory::KeptHome> StateDirectory::kept_home(const std::string& server,
                                                              std::uint32_t user) const {
  const std::string path = "home/" + server + "/" + std::to_string(user);
  Fd home = CELLBLOCK_TRY(open_strictly(directory_.get(), path.c_str(), O_RDONLY | O_DIRECTORY));
  struct stat found{};
  if (fstat(home.get(), &found) < 0) return sys_fail("fstat");
  return KeptHome{std::move(home), {found.st_uid, found.st_gid}};
}

SysResult<Fd> StateDirectory::cache_tree(std::uint32_t user, const HostIds& owner) const {
  const Fd caches = CELLBLOCK_TRY(open_or_make_directory(directory_.get(), "cache", 0711));
  const Fd cache = CELLBLOCK_TRY(open_or_make_directory(caches.get(), std::to_string(user), 0700));
  struct stat found{};
  if (fstat(cache.get(), &found) < 0) return sys_fail("fstat");
  const bool is_owners = found.st_uid == owner.uid && found.st_gid == owner.gid;
  if (!is_owners && fchown(cache.get(), owner.uid, owner.gid) < 0) return sys_fail("fchown");
  return detached(cache.get(), Execution::refused);
}

}  // namespace cellblock::launcher
