#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>

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

/// One system call, on no memory but the caller's. Asks the kernel, not the file system. False with
/// errno when it is no directory.
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

}  // namespace cellblock::launcher
