#include "supervisor/launcher/child/child_root.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace cellblock::launcher {
namespace {

// Where the launcher keeps an empty directory for the new root (own_root.h).
constexpr char new_root[] = "/cell";

constexpr unsigned long inert = MS_NOSUID | MS_NODEV | MS_NOEXEC;

bool move_tree(int tree, const char* target) {
  return syscall(SYS_move_mount, tree, "", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH) == 0;
}

bool place(int tree, const char* target) { return tree < 0 || move_tree(tree, target); }

bool mount_home(const ChildPlan& plan) {
  if (plan.home_options == nullptr) return place(plan.home.tree, plan.home.target);
  return mount("tmpfs", plan.home.target, "tmpfs", plan.home_flags, plan.home_options) == 0;
}

bool write_whole(int file, const char* bytes, std::size_t size) {
  std::size_t written = 0;
  while (written < size) {
    const ssize_t count = write(file, bytes + written, size - written);
    if (count < 0 && errno != EINTR) return false;
    if (count > 0) written += static_cast<std::size_t>(count);
  }
  return true;
}

bool write_secret(const SecretFile& secret) {
  const int file = open(secret.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR);
  if (file < 0) return false;
  const bool written = write_whole(file, secret.text, secret.size);
  const int error = errno;
  close(file);
  errno = error;
  return written;
}

}  // namespace

bool build_root(ChildPlan& plan) {
  if (!move_tree(plan.root_tree, new_root) || chdir(new_root) < 0) return false;
  if (mount("tmpfs", "tmp", "tmpfs", inert, plan.tmp_options) < 0) return false;
  if (mount("tmpfs", "dev/shm", "tmpfs", inert, plan.shm_options) < 0) return false;
  return mount_home(plan) && place(plan.workspace.tree, workspace_directory + 1);
}

bool place_secrets(ChildPlan& plan) {
  if (plan.secret_file_count == 0) return true;
  constexpr char directory[] = "run/secrets";
  if (mount("tmpfs", directory, "tmpfs", inert, plan.secret_options) < 0) return false;
  for (std::size_t i = 0; i < plan.secret_file_count; ++i) {
    if (!write_secret(plan.secret_files[i])) return false;
  }
  // The file system itself, not this mount of it alone.
  return mount(nullptr, directory, nullptr, MS_REMOUNT | MS_RDONLY | inert, nullptr) == 0;
}

bool mount_proc(ChildPlan&) {
  return mount("proc", "proc", "proc", inert | MS_RDONLY, "subset=pid,hidepid=ptraceable") == 0;
}

// pivot_root(".", ".") stacks the old root on the new one, so no directory has to be made for it.
bool enter_root(ChildPlan& plan) {
  if (syscall(SYS_pivot_root, ".", ".") < 0 || umount2(".", MNT_DETACH) < 0) return false;
  if (chdir(plan.working_directory) < 0) return false;
  struct statvfs root{};
  if (statvfs("/", &root) < 0) return false;
  errno = EROFS;
  return (root.f_flag & ST_RDONLY) != 0;
}

}  // namespace cellblock::launcher
