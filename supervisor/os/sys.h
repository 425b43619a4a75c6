#pragma once

#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/base/result.h"
#include "policy/config/config.h"

/// System calls, checked: each call once, EINTR handled, owned things returned, the failed
/// call named. Safe from any thread; nothing here keeps state.
namespace cellblock {

/// A system call that failed. Converts to Error, so CELLBLOCK_TRY passes it up either way.
struct SysError {
  const char* call = "";
  int number = 0;  ///< errno

  std::string text() const;                         ///< "open: No such file or directory"
  operator Error() const { return Error{text()}; }  // NOLINT(google-explicit-constructor)
};

template <class T>
using SysResult = std::expected<T, SysError>;

/// Takes errno as it stands.
std::unexpected<SysError> sys_fail(const char* call);

/// An owned file descriptor. Moves; closes once.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int number) : number_(number) {}
  Fd(Fd&& other) noexcept : number_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept;
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  int get() const { return number_; }
  bool valid() const { return number_ >= 0; }
  int release() {
    const int number = number_;
    number_ = -1;
    return number;
  }
  void reset();

 private:
  int number_ = -1;
};

struct Pair {
  Fd first;   ///< pipe: the reading end
  Fd second;  ///< pipe: the writing end
};

// All descriptors made here are close-on-exec.
SysResult<Fd> open_at(int directory, const char* path, int flags, mode_t mode = 0);
SysResult<Pair> make_pipe(int flags = 0);
SysResult<Pair> make_seqpacket_pair();
SysResult<Pair> make_stream_pair();
SysResult<Fd> duplicate(int descriptor);

/// A memfd that holds `bytes` and can never change again (F_SEAL_WRITE, GROW, SHRINK, SEAL).
SysResult<Fd> make_sealed(const char* name, std::span<const std::byte> bytes);

/// Everything in the file, at most `limit` bytes; EFBIG beyond. Refuses an unsealed descriptor with
/// EPERM if `sealed` is set. A file that keeps the size it has when it is opened is read into one
/// allocation, so a caller who wipes the result has left no piece of it in freed memory.
enum class Sealing : std::uint8_t { any, must_be_sealed };
SysResult<std::vector<std::byte>> read_all(int descriptor, std::size_t limit, Sealing sealing);

SysResult<void> write_all(int descriptor, std::string_view bytes);

// --- records over SOCK_SEQPACKET ---------------------------------------------------------------

inline constexpr std::size_t max_record_fds = 4;

/// One record and the descriptors that came with it.
struct Received {
  std::size_t size = 0;  ///< 0: the other side is gone
  std::vector<Fd> fds;
};

/// Sends one record, with at most max_record_fds descriptors. Never raises SIGPIPE.
/// EAGAIN when the socket is non-blocking (or `flags` has MSG_DONTWAIT) and full.
SysResult<void> send_record(int socket, std::span<const std::byte> record,
                            std::span<const int> fds = {}, int flags = 0);

/// Receives one record into `buffer`. EMSGSIZE when it was longer or carried too many descriptors;
/// EMFILE when there was no room for those it carried: `buffer` has the record, and they are
/// closed.
SysResult<Received> receive_record(int socket, std::span<std::byte> buffer, int flags = 0);

template <class Record>
SysResult<void> send_record(int socket, const Record& record, std::span<const int> fds = {},
                            int flags = 0) {
  return send_record(socket, std::as_bytes(std::span(&record, 1)), fds, flags);
}

/// A record of exactly this type; EBADMSG when the size differs, EPIPE when the other side is gone.
template <class Record>
SysResult<Received> receive_record(int socket, Record& record, int flags = 0) {
  auto received = receive_record(socket, std::as_writable_bytes(std::span(&record, 1)), flags);
  if (!received) return received;
  if (received->size == 0) return std::unexpected(SysError{"recvmsg", EPIPE});
  if (received->size != sizeof(Record)) return std::unexpected(SysError{"recvmsg", EBADMSG});
  return received;
}

// The small text files by which the kernel is configured and read (cgroups(7), proc(5)), below an
// open directory. Blocking; they answer at once.

/// `text` is short: the kernel takes it in the one write that it wants.
SysResult<void> write_control_file(int directory, const char* name, std::string_view text);

/// The whole text; EFBIG when it is longer than `limit` bytes.
SysResult<std::string> read_control_file(int directory, const char* name, std::size_t limit);

/// The stamp of the file behind a descriptor, which may be O_PATH.
SysResult<FileStamp> stamp_of(const Fd& file);

/// pidfd_open(2), whose declaration in glibc 2.36 lacks C linkage: of a process that was not waited
/// for yet. Not valid: errno says why.
inline Fd open_pidfd(pid_t process) {
  return Fd(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
}

}  // namespace cellblock
