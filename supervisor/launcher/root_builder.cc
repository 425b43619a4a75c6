#include "supervisor/launcher/root_builder.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include "supervisor/launcher/mounts.h"

namespace cellblock::launcher {
namespace {

constexpr char template_options[] = "size=8m,nr_inodes=4096,mode=755";

std::uint64_t attributes_of(BindKind kind) {
  switch (kind) {
    case BindKind::read:
      return MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
    case BindKind::write:
      return MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
    case BindKind::device:
      return MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC;
  }
  return MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
}

const char* relative(const std::string& path) { return path.c_str() + 1; }

SysResult<void> make_directory(int root, const std::string& path) {
  if (mkdirat(root, relative(path), 0755) < 0 && errno != EEXIST) return sys_fail("mkdirat");
  return {};
}

SysResult<void> make_parents(int root, const std::string& path) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    CELLBLOCK_CHECK(make_directory(root, path.substr(0, slash)));
  }
  return {};
}

SysResult<void> make_file(int root, const std::string& path, const std::string& content) {
  const Fd file =
      CELLBLOCK_TRY(open_at(root, relative(path), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644));
  return write_all(file.get(), content);
}

SysResult<void> make_link(int root, const std::string& path, const std::string& target) {
  if (symlinkat(target.c_str(), root, relative(path)) < 0) return sys_fail("symlinkat");
  return {};
}

// A mount point of the source's own kind: only a directory goes onto a directory.
SysResult<void> make_mount_point(int root, const std::string& path, int source) {
  struct stat found{};
  if (fstatat(root, relative(path), &found, AT_SYMLINK_NOFOLLOW) == 0) return {};
  if (fstat(source, &found) < 0) return sys_fail("fstat");
  return S_ISDIR(found.st_mode) ? make_directory(root, path) : make_file(root, path, "");
}

SysResult<void> attach_bind(int root, int host, const RootEntry& entry) {
  const Fd tree = CELLBLOCK_TRY(clone_tree_at(host, relative(entry.content)));
  CELLBLOCK_CHECK(add_attributes(tree.get(), attributes_of(entry.bind), Reach::whole_tree));
  CELLBLOCK_CHECK(make_mount_point(root, entry.path, tree.get()));
  return attach_tree(tree.get(), root, relative(entry.path));
}

SysResult<void> place(int root, int host, const RootEntry& entry) {
  CELLBLOCK_CHECK(make_parents(root, entry.path));
  switch (entry.kind) {
    case EntryKind::directory:
      return make_directory(root, entry.path);
    case EntryKind::file:
      return make_file(root, entry.path, entry.content);
    case EntryKind::symbolic_link:
      return make_link(root, entry.path, entry.content);
    case EntryKind::bind:
      return attach_bind(root, host, entry);
  }
  return std::unexpected(SysError{"place", EINVAL});
}

SysResult<Fd> mount_empty_root(const char* where) {
  if (mount("tmpfs", where, "tmpfs", MS_NOSUID | MS_NODEV, template_options) < 0) {
    return sys_fail("mount");
  }
  return open_at(AT_FDCWD, where, O_PATH | O_DIRECTORY);
}

std::string read_public_file(int host, const char* path) {
  const auto file = open_at(host, path, O_RDONLY);
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

SetupResult<Fd> build_template(const std::vector<RootEntry>& entries, int host, const char* where) {
  auto root = mount_empty_root(where);
  if (!root) return failed_at(SetupStep::prepare, root.error());
  for (const RootEntry& entry : entries) {
    if (auto placed = place(root->get(), host, entry); !placed) {
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
  return layout;
}

}  // namespace cellblock::launcher
