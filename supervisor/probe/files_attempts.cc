#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "supervisor/probe/attempts.h"
#include "supervisor/probe/files_at_hand.h"
#include "supervisor/probe/scratch.h"

namespace cellblock::probe {
namespace {

template <const char* path>
Outcome create_it(const Setting&) {
  return try_create((path + std::string("-") + random_name()).c_str());
}

constexpr char shadow[] = "/etc/shadow";
constexpr char machine_id[] = "/etc/machine-id";
constexpr char host_key[] = "/etc/ssh/ssh_host_ed25519_key";
constexpr char users[] = "/etc/passwd";
constexpr char in_root[] = "/cellblock-probe";
constexpr char in_usr[] = "/usr/bin/cellblock-probe";
constexpr char in_etc[] = "/etc/cellblock-probe";
constexpr char in_dev[] = "/dev/cellblock-probe";
constexpr char memory_device[] = "/dev/mem";
constexpr char log_device[] = "/dev/kmsg";
constexpr char fuse_device[] = "/dev/fuse";
constexpr char tun_device[] = "/dev/net/tun";
constexpr char kvm_device[] = "/dev/kvm";
constexpr char kernel_objects[] = "/sys/kernel/notes";
constexpr char parent_program[] = "/proc/1/exe";

Outcome read_target(const Setting& setting) {
  if (setting.targets.file.empty()) return not_applicable("no target was named: file");
  return try_read(setting.targets.file.c_str());
}

// The same by a way that leads up first.
Outcome climb_to_target(const Setting& setting) {
  if (setting.targets.file.empty()) return not_applicable("no target was named: file");
  return try_read(("../../../../../../../.." + setting.targets.file).c_str());
}

Outcome link_to_target(const Setting& setting) {
  if (setting.targets.file.empty()) return not_applicable("no target was named: file");
  const Scratch scratch;
  if (!scratch.valid()) return scratch.problem();
  if (::symlink(setting.targets.file.c_str(), scratch.path().c_str()) < 0) return unprepared(errno);
  return try_read(scratch.path().c_str());
}

Outcome see_users(const Setting&) {
  const std::string text = text_of(users);
  if (text.find("root:") == std::string::npos) return held("there are the cell's own users only");
  return opened();
}

// A declared path below one of these makes an empty directory on the way, in the cell's own root,
// which is a tmpfs. One on another tmpfs, or where the root is none, is the host's.
bool is_of_own_root(const char* path) {
  struct statfs file_system{};
  if (::statfs("/", &file_system) != 0 || file_system.f_type != TMPFS_MAGIC) return false;
  struct stat root{};
  struct stat found{};
  return ::stat("/", &root) == 0 && ::stat(path, &found) == 0 && root.st_dev == found.st_dev;
}

Outcome see_host_directories(const Setting&) {
  for (const char* directory : {"/root", "/boot", "/srv", "/var/log", "/mnt", "/media"}) {
    if (exists(directory) && !is_of_own_root(directory)) return opened(directory);
  }
  return held(ENOENT);
}

Outcome list_root_home(const Setting&) { return try_open("/root", O_RDONLY | O_DIRECTORY); }

Outcome make_node(mode_t type, dev_t device) {
  const Scratch scratch;
  if (!scratch.valid()) return scratch.problem();
  if (::mknod(scratch.path().c_str(), type | 0600, device) < 0) return unprepared(errno);
  return opened();
}
Outcome make_disk(const Setting&) { return make_node(S_IFBLK, ::makedev(254, 0)); }
Outcome make_memory(const Setting&) { return make_node(S_IFCHR, ::makedev(1, 1)); }

Outcome open_disk(const Setting&) {
  return try_any({"/dev/vda", "/dev/sda", "/dev/nvme0n1", "/dev/xvda", "/dev/dm-0", "/dev/loop0"},
                 O_RDONLY);
}

/// Room for a handle: the kernel's structure ends with as many bytes as the file system needs.
class Handle {
 public:
  Handle() { get()->handle_bytes = MAX_HANDLE_SZ; }
  file_handle* get() { return reinterpret_cast<file_handle*>(room_.data()); }
  // Not by `f_handle`, which the compiler takes for an array of nothing.
  void set_first_byte(unsigned char byte) { room_[sizeof(file_handle)] = byte; }

 private:
  alignas(file_handle) std::array<unsigned char, sizeof(file_handle) + MAX_HANDLE_SZ> room_{};
};

Outcome name_by_handle(const Setting&) {
  Handle handle;
  int mount = 0;
  return from_call(::name_to_handle_at(AT_FDCWD, "/usr", handle.get(), &mount, 0));
}

Outcome open_by_handle(const Setting&) {
  Handle handle;
  int mount = 0;
  const Open root(::open("/usr", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (::name_to_handle_at(AT_FDCWD, "/usr", handle.get(), &mount, 0) < 0) {
    // Without a handle of its own, one that is guessed: the root of most file systems.
    handle.get()->handle_type = 1;
    handle.get()->handle_bytes = 8;
    handle.set_first_byte(2);
  }
  const Open file(::open_by_handle_at(root.get(), handle.get(), O_RDONLY | O_CLOEXEC));
  return from_call(file.get());
}

Outcome run_from_tmp(const Setting&) { return run_written_program("/tmp"); }
Outcome run_from_shm(const Setting&) { return run_written_program("/dev/shm"); }

Outcome run_from_home(const Setting&) {
  const char* home = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe): one thread
  if (home == nullptr || !exists(home)) return not_applicable("there is no home");
  return run_written_program(home);
}

Outcome run_from_workspace(const Setting&) {
  if (!exists("/workspace")) return not_applicable("there is no workspace");
  return run_written_program("/workspace");
}

Outcome run_from_memory(const Setting&) { return run_program_from_memory(); }

Outcome map_from_tmp(const Setting&) { return map_written_program("/tmp"); }

Outcome watch_usr(const Setting&) {
  const Open watch(::inotify_init1(IN_CLOEXEC));
  if (!watch.valid()) return held(errno);
  return from_call(::inotify_add_watch(watch.get(), "/usr", IN_OPEN));
}

Outcome lock_usr(const Setting&) {
  const Open directory(::open("/usr", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return from_call(::flock(directory.get(), LOCK_SH | LOCK_NB));
}

Outcome read_mount_table(const Setting&) { return try_read("/proc/self/mountinfo"); }

Outcome change_system_file(const Setting&) {
  return try_any({"/etc/passwd", "/etc/hosts", "/etc/ld.so.cache"}, O_WRONLY);
}

Outcome write_cgroup(const Setting&) {
  return try_any({"/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/unified/cgroup.procs",
                  "/sys/fs/cgroup/memory/release_agent", "/sys/fs/cgroup/devices/release_agent",
                  "/sys/fs/cgroup/memory/tasks"},
                 O_WRONLY);
}

constexpr Attempt attempts[] = {
    {"read_shadow", "the password hashes of the host can be read", read_it<shadow>},
    {"read_host_file", "a file outside that was not given can be read", read_target},
    {"climb_to_host_file", "a path with .. leads to what was not given", climb_to_target},
    {"link_to_host_file", "a symbolic link leads to what was not given", link_to_target},
    {"read_machine_id", "the machine can be recognised by its id", read_it<machine_id>},
    {"read_host_key", "the private key of the host's SSH service can be read", read_it<host_key>},
    {"see_host_users", "the users of the host are known by name", see_users},
    {"see_host_directories", "the host's directories are in sight", see_host_directories},
    {"list_root_home", "root's home directory can be listed", list_root_home},
    {"write_root_directory", "files can be put into the root", create_it<in_root>},
    {"write_usr", "programs can be put where others run them", create_it<in_usr>},
    {"write_etc", "configuration of the system can be added", create_it<in_etc>},
    {"write_dev", "files can be put among the devices", create_it<in_dev>},
    {"change_system_file", "configuration of the system can be changed", change_system_file},
    {"make_block_device", "a device node gives the whole disk", make_disk},
    {"make_char_device", "a device node gives the machine's memory", make_memory},
    {"open_memory_device", "the machine's memory can be read", read_it<memory_device>},
    {"open_log_device", "the kernel's log can be read and written", read_it<log_device>},
    {"open_disk", "the disk can be read below its file system", open_disk},
    {"open_fuse", "a file system of one's own can be made and fed", write_it<fuse_device>},
    {"open_tun", "network interfaces can be made", write_it<tun_device>},
    {"open_kvm", "virtual machines can be run", write_it<kvm_device>},
    {"read_sysfs", "hardware and drivers are in sight", read_it<kernel_objects>},
    {"write_cgroup", "limits can be left, and release_agent runs as root", write_cgroup},
    {"open_program_of_pid_1", "the program that holds the cell can be opened",
     read_it<parent_program>},
    {"name_file_by_handle", "a file can be named past its path", name_by_handle},
    {"open_file_by_handle", "any file of the file system can be opened by its number",
     open_by_handle},
    {"run_from_tmp", "what was written to /tmp can be run", run_from_tmp},
    {"run_from_shm", "what was written to /dev/shm can be run", run_from_shm},
    {"run_from_home", "what was written to the home can be run", run_from_home},
    {"run_from_workspace", "what was written to the workspace can be run", run_from_workspace},
    {"run_from_memory", "a program that never was a file can be run", run_from_memory},
    {"map_code_from_tmp", "what was written to /tmp can be mapped as code", map_from_tmp},
    {"watch_shared_files", "it can be seen when others open shared files", watch_usr},
    {"lock_shared_files", "locks on shared files carry messages between cells", lock_usr},
    {"read_mount_table", "it is known where on the host a directory is from", read_mount_table},
};

}  // namespace

std::span<const Attempt> files_attempts() { return attempts; }

}  // namespace cellblock::probe
