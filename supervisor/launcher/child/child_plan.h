#pragma once

#include <fcntl.h>
#include <linux/filter.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <expected>

#include "policy/config/config.h"
#include "policy/failures/end_verdict.h"
#include "policy/failures/setup_step.h"
#include "supervisor/ipc/wire.h"
#include "supervisor/launcher/child/landlock_ruleset.h"
#include "supervisor/os/sys.h"

/// Everything a child needs between clone and exec, prepared before the clone: plain words and
/// pointers into memory of the launcher that the child has a copy of. The child only applies it.
namespace cellblock::launcher {

/// Which directory something is, as values. The time of its birth, where the file system knows it,
/// tells it from another that was given the number of one that is gone.
struct DirectoryIdentity {
  std::uint32_t device_major = 0;
  std::uint32_t device_minor = 0;
  std::uint64_t inode = 0;
  std::int64_t born_seconds = 0;  ///< 0: not known
  std::uint32_t born_nanoseconds = 0;
  bool operator==(const DirectoryIdentity&) const = default;
};

/// One system call, on the caller's memory alone. Asks the kernel, not the file system. False with
/// errno if it is no directory.
inline bool identify_directory(int descriptor, DirectoryIdentity& identity) {
  constexpr int flags = AT_EMPTY_PATH | AT_STATX_DONT_SYNC;
  struct statx words{};
  if (statx(descriptor, "", flags, STATX_TYPE | STATX_INO | STATX_BTIME, &words) < 0) return false;
  errno = ENOTDIR;
  if (!S_ISDIR(words.stx_mode)) return false;
  identity = {.device_major = words.stx_dev_major,
              .device_minor = words.stx_dev_minor,
              .inode = words.stx_ino};
  if ((words.stx_mask & STATX_BTIME) != 0) {
    identity.born_seconds = words.stx_btime.tv_sec;
    identity.born_nanoseconds = words.stx_btime.tv_nsec;
  }
  return true;
}

/// A step on the launcher's side that failed.
struct SetupFailure {
  SetupStep step = SetupStep::none;
  int error = 0;
  int path_index = -1;  ///< which of the server's binds, or -1
  ExecDetail detail = ExecDetail::none;
  wire::StartRefusal refusal = wire::StartRefusal::setup_failed;  ///< how a gateway is told

  CellFacts facts() const {
    return CellFacts{.kind = EndKind::setup_failed,
                     .step = step,
                     .detail = detail,
                     .error = error,
                     .path_index = path_index};
  }
};

template <class T>
using SetupResult = std::expected<T, SetupFailure>;

inline std::unexpected<SetupFailure> failed_at(SetupStep step, const SysError& error,
                                               int path_index = -1) {
  return std::unexpected(SetupFailure{step, error.number, path_index});
}

inline constexpr int max_child_fds = 64;

/// A resource limit in setrlimit's words; hard and soft are the same, so that nothing can be
/// raised.
struct ResourceLimit {
  int resource = 0;
  std::uint64_t value = 0;
};

using ResourceLimits = std::array<ResourceLimit, 10>;

/// Where a prepared, detached mount is attached below the new root.
struct MountPlacement {
  int tree = -1;  ///< from open_tree
  const char* target = nullptr;
};

/// The directory that a host passed in.
struct WorkspacePlan {
  bool passed = false;           ///< whether there is one
  DirectoryIdentity identity;    ///< which it is
  const char* root = nullptr;    ///< where the launcher keeps the tree that it is in
  const char* below = nullptr;   ///< where it should be from there
  std::uint64_t attributes = 0;  ///< MOUNT_ATTR_* that it is mounted with
  int tree = -1;                 ///< open_workspace: its mount, for build_root
};

/// A file on the tmpfs of the secrets.
struct SecretFile {
  const char* path = nullptr;  ///< below the new root
  const char* text = nullptr;  ///< in ChildPlan::environment_block
  std::size_t size = 0;
};

struct ChildPlan {
  // Descriptors: all close-on-exec, and none below first_plan_fd, so that placing one cannot
  // overwrite another.
  int report = -1;                       ///< SOCK_SEQPACKET: failures go up; end of file is success
  int ending = -1;                       ///< pipe: the guardian writes the server's end into it
  int go = -1;                           ///< pipe: one byte when the ids are mapped
  std::array<int, max_child_fds> fds{};  ///< become 0, 1, 2 ... of the server
  int fd_count = 0;

  uid_t uid = 0;  ///< inside the cell's user namespace
  gid_t gid = 0;
  enum class Groups : std::uint8_t { clear, cannot_be_cleared } groups = Groups::clear;
  const char* hostname = "cell";

  int root_tree = -1;                  ///< the template, already read-only
  MountPlacement home;                 ///< tree -1 and no home_options: none
  const char* home_options = nullptr;  ///< of a tmpfs there; nullptr: the tree
  unsigned long home_flags = 0;
  /// Paths below the home at which the template has a mount that is to be seen there.
  const char* const* home_files = nullptr;
  std::size_t home_file_count = 0;
  int covered_home = -1;  ///< build_root: the template's, below the home that was mounted
  WorkspacePlan workspace;
  const char* tmp_options = nullptr;  ///< of the tmpfs on /tmp
  const char* shm_options = nullptr;
  const SecretFile* secret_files = nullptr;
  std::size_t secret_file_count = 0;
  const char* secret_options = nullptr;  ///< of the tmpfs that holds them

  ResourceLimits limits{};

  const LandlockRuleset* landlock = nullptr;
  const sock_fprog* server_filter = nullptr;
  const sock_fprog* init_filter = nullptr;
  enum class Listener : std::uint8_t { none, report } listener = Listener::report;

  const char* working_directory = "/";
  const char* path = nullptr;  ///< what is executed, unless `program` is
  int program = -1;            ///< a descriptor to execute; -1: none
  char* const* argv = nullptr;
  char* const* envp = nullptr;
  /// Holds the text of envp and of secret_files. Init and guardian wipe their copy: they have no
  /// use for secrets.
  char* environment_block = nullptr;
  std::size_t environment_size = 0;

#ifdef CELLBLOCK_FAULT_INJECTION
  /// For tests: this step fails with this errno instead of being done.
  SetupStep fault_step = SetupStep::none;
  int fault_error = 0;
#endif
};

inline constexpr int first_plan_fd = 128;

/// What a child sends up its report socket.
enum class ChildReportKind : std::uint8_t {
  failed = 1,    ///< step, error, detail
  listener = 2,  ///< one descriptor comes along: the filter's notifications
};

struct ChildReport {
  ChildReportKind kind{};
  SetupStep step = SetupStep::none;
  ExecDetail detail = ExecDetail::none;
  std::uint8_t reserved = 0;
  std::int32_t error = 0;
};

/// Pid 1 ends with this and the signal's number when its guardian was killed. No step of the set-up
/// ends with so much.
inline constexpr int guardian_signal_base = 128;

/// What the guardian writes when the server has ended.
struct ServerEnding {
  std::int32_t wait_status = 0;
  std::int32_t reserved = 0;
  std::uint64_t cpu_microseconds = 0;
  std::uint64_t max_rss_kib = 0;
};

}  // namespace cellblock::launcher
