#include "supervisor/launcher/prepare/state_directory.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "supervisor/launcher/prepare/chown_tree.h"
#include "supervisor/launcher/prepare/mounts.h"

namespace cellblock::launcher {
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
