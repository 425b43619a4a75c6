#include "supervisor/launcher/state_directory.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "supervisor/launcher/mounts.h"

namespace cellblock::launcher {
namespace {

constexpr std::size_t max_ids_bytes = 16U << 20;

SysResult<Fd> open_or_make_directory(int parent, const std::string& name, mode_t mode) {
  if (mkdirat(parent, name.c_str(), mode) < 0 && errno != EEXIST) return sys_fail("mkdirat");
  return open_at(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

}  // namespace

Result<StateDirectory> StateDirectory::open(Fd directory, std::uint32_t first_id,
                                            std::uint32_t ids) {
  Fd file = CELLBLOCK_TRY(
      open_at(directory.get(), "ids", O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW, 0600));
  const auto bytes = CELLBLOCK_TRY(read_all(file.get(), max_ids_bytes, Sealing::any));
  IdTable table(first_id, ids);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (const auto restored = table.restore(text); !restored) {
    return fail("the state directory's file \"ids\": " + restored.error().text);
  }
  return StateDirectory(std::move(directory), std::move(file), std::move(table));
}

SysResult<std::uint32_t> StateDirectory::id_for(const std::string& server, std::uint32_t user) {
  const auto assigned = table_.assign(server, user);
  if (!assigned) return std::unexpected(SysError{"assign", ENOSPC});
  if (!assigned->is_new) return assigned->id;
  // The line before the use: after a crash in between the id is merely wasted, never given twice.
  CELLBLOCK_CHECK(write_all(ids_.get(), IdTable::format(server, user, assigned->id)));
  if (fdatasync(ids_.get()) < 0) return sys_fail("fdatasync");
  return assigned->id;
}

SysResult<Fd> StateDirectory::home_tree(const std::string& server, std::uint32_t user,
                                        std::uint32_t owner) {
  const Fd homes = CELLBLOCK_TRY(open_or_make_directory(directory_.get(), "home", 0711));
  const Fd of_server = CELLBLOCK_TRY(open_or_make_directory(homes.get(), server, 0711));
  const Fd home =
      CELLBLOCK_TRY(open_or_make_directory(of_server.get(), std::to_string(user), 0700));
  struct stat found{};
  if (fstat(home.get(), &found) < 0) return sys_fail("fstat");
  // Without the capability over a foreign owner this fails, as it must.
  if (found.st_uid != owner && fchown(home.get(), owner, owner) < 0) return sys_fail("fchown");
  Fd tree = CELLBLOCK_TRY(clone_tree(home.get()));
  CELLBLOCK_CHECK(
      add_attributes(tree.get(), MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, Reach::whole_tree));
  return tree;
}

}  // namespace cellblock::launcher
