#include "supervisor/launcher/prepare/owner_trees.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "supervisor/launcher/prepare/host_tree.h"

namespace cellblock::launcher {
namespace {

std::size_t count_of(const Config& config) {
  std::size_t count = 0;
  for (const Server& server : config.servers) count += server.owner_mounts.size();
  return count;
}

// The other end was closed after the last one.
SysResult<std::vector<Fd>> take_all(int line, std::size_t most) {
  std::vector<Fd> trees;
  while (true) {
    char mark = 0;
    auto received = receive_record(line, mark, MSG_DONTWAIT);
    if (!received && received.error().number == EPIPE) return trees;
    if (!received) return std::unexpected(received.error());
    if (received->fds.size() > 1 || trees.size() == most) {
      return std::unexpected(SysError{"recvmsg", EBADMSG});
    }
    trees.push_back(received->fds.empty() ? Fd() : std::move(received->fds[0]));
  }
}

SysResult<void> make_mount_point(int tree, const std::string& place) {
  struct stat found{};
  if (fstat(tree, &found) < 0) return sys_fail("fstat");
  if (S_ISDIR(found.st_mode)) {
    if (mkdir(place.c_str(), 0755) < 0) return sys_fail("mkdir");
    return {};
  }
  CELLBLOCK_CHECK(open_at(AT_FDCWD, place.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0644));
  return {};
}

}  // namespace

OwnerTrees::Key OwnerTrees::key_of(const Bind& bind, const OwnerMount& mount) {
  return {bind.source, mount.uid, mount.gid, mount.cell_id};
}

std::string OwnerTrees::place(const Bind& bind, const OwnerMount& mount) const {
  const auto found = places_.find(key_of(bind, mount));
  return found == places_.end() ? std::string() : found->second;
}

SysResult<void> OwnerTrees::attach_one(const Bind& bind, const OwnerMount& mount, Fd brought,
                                       const OwnerTrees& before) {
  if (places_.contains(key_of(bind, mount))) return {};  // of another server
  if (!brought.valid() && !before.place(bind, mount).empty()) {
    brought = CELLBLOCK_TRY(clone_tree_at(AT_FDCWD, before.place(bind, mount).c_str()));
  }
  if (!brought.valid()) return {};
  CELLBLOCK_CHECK(leave_peers(brought.get()));
  const std::string place = directory_ + "/" + std::to_string(places_.size());
  CELLBLOCK_CHECK(make_mount_point(brought.get(), place));
  CELLBLOCK_CHECK(attach_tree(brought.get(), AT_FDCWD, place.c_str()));
  places_.emplace(key_of(bind, mount), place);
  return {};
}

SysResult<void> OwnerTrees::attach(const Config& config, int line, const OwnerTrees& before) {
  const std::size_t count = count_of(config);
  if (count == 0) return {};
  std::vector<Fd> brought = CELLBLOCK_TRY(take_all(line, count));
  if (!brought.empty() && brought.size() != count) {
    return std::unexpected(SysError{"recvmsg", EBADMSG});
  }
  // Whoever brings some brings all that there are: of one that could not be made the old one is
  // another directory's by now.
  const OwnerTrees none;
  const OwnerTrees& kept = brought.empty() ? before : none;
  brought.resize(count);
  if (mkdir(directory_.c_str(), 0755) < 0) return sys_fail("mkdir");
  if (mkdir(closed_place().c_str(), 0) < 0) return sys_fail("mkdir");
  std::size_t next = 0;
  for (const Server& server : config.servers) {
    for (const OwnerMount& mount : server.owner_mounts) {
      CELLBLOCK_CHECK(
          attach_one(server.binds[mount.bind], mount, std::move(brought[next++]), kept));
    }
  }
  return {};
}

}  // namespace cellblock::launcher
