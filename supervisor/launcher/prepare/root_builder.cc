#include "supervisor/launcher/prepare/root_builder.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include "supervisor/launcher/prepare/host_tree.h"

namespace cellblock::launcher {
namespace {

constexpr char template_options[] = "size=8m,nr_inodes=4096,mode=755";

std::uint64_t attributes_of(BindKind kind) {
  switch (kind) {
    case BindKind::read:
      return MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
    case BindKind::write:
      return MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
    case BindKind::write_execute:
      return MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
    case BindKind::device:
      // The node can be written all the same; its times, which the host shares, cannot be set.
      return MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC;
  }
  return MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
}

const char* relative(const std::string& path) { return path.c_str() + 1; }

// Every name below a template is resolved by open_strictly: a bind above it may hold whatever a
// server has put there, a symbolic link to another cell's template included.

struct Place {
  Fd parent;
  std::string name;
};

SysResult<void> make_directory(int parent, const std::string& name) {
  if (mkdirat(parent, name.c_str(), 0755) < 0 && errno != EEXIST) return sys_fail("mkdirat");
  return {};
}

SysResult<bool> is_own(int root, int directory) {
  struct stat own{};
  struct stat here{};
  if (fstat(root, &own) < 0 || fstat(directory, &here) < 0) return sys_fail("fstat");
  return here.st_dev == own.st_dev;
}

// The directory that holds the last part of `path`. Missing ones are made, but only in the
// template's own file system: what lies in a bind is the host's, and is not ours to change.
SysResult<Place> open_parent(int root, const std::string& path) {
  Fd parent = CELLBLOCK_TRY(open_strictly(root, ".", O_PATH | O_DIRECTORY));
  std::size_t start = 1;
  for (std::size_t slash = path.find('/', start); slash != std::string::npos;
       slash = path.find('/', start)) {
    const std::string name = path.substr(start, slash - start);
    if (CELLBLOCK_TRY(is_own(root, parent.get()))) {
      CELLBLOCK_CHECK(make_directory(parent.get(), name));
    }
    parent = CELLBLOCK_TRY(open_strictly(parent.get(), name.c_str(), O_PATH | O_DIRECTORY));
    start = slash + 1;
  }
  return Place{std::move(parent), path.substr(start)};
}

SysResult<void> make_file(const Place& place, const std::string& content) {
  const Fd file = CELLBLOCK_TRY(open_at(place.parent.get(), place.name.c_str(),
                                        O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644));
  return write_all(file.get(), content);
}

SysResult<void> make_link(const Place& place, const std::string& target) {
  if (symlinkat(target.c_str(), place.parent.get(), place.name.c_str()) < 0) {
    return sys_fail("symlinkat");
  }
  return {};
}

// A mount point of the source's own kind: only a directory goes onto a directory. Inside another
// bind it has to be there already.
SysResult<Fd> open_mount_point(int root, const Place& place, int source) {
  auto found = open_strictly(place.parent.get(), place.name.c_str(), O_PATH | O_NOFOLLOW);
  if (found || found.error().number != ENOENT) return found;
  if (!CELLBLOCK_TRY(is_own(root, place.parent.get()))) return found;
  struct stat wanted{};
  if (fstat(source, &wanted) < 0) return sys_fail("fstat");
  CELLBLOCK_CHECK(S_ISDIR(wanted.st_mode) ? make_directory(place.parent.get(), place.name)
                                          : make_file(place, ""));
  return open_strictly(place.parent.get(), place.name.c_str(), O_PATH | O_NOFOLLOW);
}

SysResult<Fd> clone_source(const HostTree& host, const RootEntry& entry) {
  if (!entry.own_place.empty()) return clone_tree_at(AT_FDCWD, entry.own_place.c_str());
  auto tree = host.clone(relative(entry.content));
  const bool is_closed = !tree && tree.error().number == EACCES && !entry.closed_place.empty();
  return is_closed ? clone_tree_at(AT_FDCWD, entry.closed_place.c_str()) : std::move(tree);
}

// The check saw a directory or a file. Whoever can replace it could put a socket there.
SysResult<void> check_kind(int tree, BindKind kind) {
  struct stat status{};
  if (fstat(tree, &status) < 0) return sys_fail("fstat");
  const bool is_plain = S_ISDIR(status.st_mode) || S_ISREG(status.st_mode);
  if (is_plain || kind == BindKind::device) return {};
  return std::unexpected(SysError{"fstat", EOPNOTSUPP});
}

SysResult<void> attach_bind(int root, const HostTree& host, const RootEntry& entry,
                            const Place& place) {
  const Fd tree = CELLBLOCK_TRY(clone_source(host, entry));
  CELLBLOCK_CHECK(check_kind(tree.get(), entry.bind));
  CELLBLOCK_CHECK(add_attributes(tree.get(), attributes_of(entry.bind), Reach::whole_tree));
  const Fd mount_point = CELLBLOCK_TRY(open_mount_point(root, place, tree.get()));
  return attach_tree(tree.get(), mount_point.get(), "");
}

SysResult<void> add_entry(int root, const HostTree& host, const RootEntry& entry) {
  const Place place = CELLBLOCK_TRY(open_parent(root, entry.path));
  switch (entry.kind) {
    case EntryKind::directory:
      return make_directory(place.parent.get(), place.name);
    case EntryKind::file:
      return make_file(place, entry.content);
    case EntryKind::symbolic_link:
      return make_link(place, entry.content);
    case EntryKind::bind:
      return attach_bind(root, host, entry, place);
  }
  return std::unexpected(SysError{"add_entry", EINVAL});
}

SysResult<Fd> mount_empty_root(const char* where) {
  if (mount("tmpfs", where, "tmpfs", MS_NOSUID | MS_NODEV, template_options) < 0) {
    return sys_fail("mount");
  }
  return open_at(AT_FDCWD, where, O_PATH | O_DIRECTORY);
}

std::string read_public_file(int host, const char* path) {
  const auto file = open_within(host, path, O_RDONLY);
  if (!file) return {};
  const auto bytes = read_all(file->get(), 4U << 20, Sealing::any);
  if (!bytes) return {};
  return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
}

bool is_directory(int host, const std::string& path) {
  struct stat found{};
  return fstatat(host, relative(path), &found, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(found.st_mode);
}

void add_system_directory(HostLayout& layout, int host, const char* name) {
  std::array<char, 256> target{};
  const ssize_t length = readlinkat(host, name, target.data(), target.size() - 1);
  if (length > 0) {
    layout.system_directories.push_back({name, std::string(target.data())});
  } else if (is_directory(host, std::string("/") + name)) {
    layout.system_directories.push_back({name, std::nullopt});
  }
}

}  // namespace

SetupResult<Fd> build_template(const std::vector<RootEntry>& entries, const HostTree& host,
                               const char* where) {
  auto root = mount_empty_root(where);
  if (!root) return failed_at(SetupStep::prepare, root.error());
  for (const RootEntry& entry : entries) {
    if (auto placed = add_entry(root->get(), host, entry); !placed) {
      return failed_at(SetupStep::prepare, placed.error(), entry.declared);
    }
  }
  // Last, and this mount alone: the binds below keep what was declared for them.
  if (auto sealed = add_attributes(root->get(), MOUNT_ATTR_RDONLY, Reach::this_mount); !sealed) {
    return failed_at(SetupStep::prepare, sealed.error());
  }
  return std::move(*root);
}

SysResult<HostLayout> read_host_layout(int host) {
  HostLayout layout;
  for (const char* name : {"usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32"}) {
    add_system_directory(layout, host, name);
  }
  for (const char* path : {"/etc/ssl/certs", "/etc/alternatives"}) {
    if (is_directory(host, path)) layout.etc_directories.emplace_back(path);
  }
  layout.loader_cache = read_public_file(host, "etc/ld.so.cache");
  layout.local_time = read_public_file(host, "etc/localtime");
  layout.resolver = read_public_file(host, "etc/resolv.conf");
  layout.hosts = read_public_file(host, "etc/hosts");
  return layout;
}

}  // namespace cellblock::launcher
