#include "supervisor/os/sys.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <system_error>

namespace cellblock {
namespace {

constexpr std::size_t read_step = 65'536;
constexpr int all_seals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;

template <class Call>
auto retry(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

// With room for one byte more, whose absence is the end of the file. /proc has no sizes to tell.
std::size_t first_read(int descriptor, std::size_t limit) {
  struct stat status{};
  const bool sized = ::fstat(descriptor, &status) == 0 && status.st_size > 0;
  return sized ? std::min(static_cast<std::size_t>(status.st_size), limit) + 1 : read_step;
}

struct alignas(cmsghdr) FdControl {
  std::array<char, CMSG_SPACE(sizeof(int) * max_record_fds)> bytes{};
};

std::vector<Fd> take_fds(msghdr& message) {
  std::vector<Fd> fds;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
      fds.emplace_back(number);
    }
  }
  return fds;
}

SysResult<Pair> make_pair_of(int type) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends.data()) < 0) {
    return sys_fail("socketpair");
  }
  return Pair{Fd(ends[0]), Fd(ends[1])};
}

}  // namespace

std::string SysError::text() const {
  return std::string(call) + ": " + std::generic_category().message(number);
}

std::unexpected<SysError> sys_fail(const char* call) {
  return std::unexpected(SysError{call, errno});
}

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    reset();
    number_ = other.release();
  }
  return *this;
}

void Fd::reset() {
  if (number_ >= 0) ::close(number_);
  number_ = -1;
}

SysResult<Fd> open_at(int directory, const char* path, int flags, mode_t mode) {
  const int fd = retry([&] { return ::openat(directory, path, flags | O_CLOEXEC, mode); });
  if (fd < 0) return sys_fail("open");
  return Fd(fd);
}

SysResult<Pair> make_pipe(int flags) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), flags | O_CLOEXEC) < 0) return sys_fail("pipe2");
  return Pair{Fd(ends[0]), Fd(ends[1])};
}

SysResult<Pair> make_seqpacket_pair() { return make_pair_of(SOCK_SEQPACKET); }

SysResult<Pair> make_stream_pair() { return make_pair_of(SOCK_STREAM); }

SysResult<Fd> duplicate(int descriptor) {
  const int fd = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
  if (fd < 0) return sys_fail("fcntl");
  return Fd(fd);
}

SysResult<Fd> make_sealed(const char* name, std::span<const std::byte> bytes) {
  Fd fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.valid()) return sys_fail("memfd_create");
  CELLBLOCK_CHECK(write_all(fd.get(), {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  if (::fcntl(fd.get(), F_ADD_SEALS, all_seals) < 0) return sys_fail("fcntl");
  return fd;
}

SysResult<std::vector<std::byte>> read_all(int descriptor, std::size_t limit, Sealing sealing) {
  if (sealing == Sealing::must_be_sealed && ::fcntl(descriptor, F_GET_SEALS) != all_seals) {
    return std::unexpected(SysError{"fcntl", EPERM});
  }
  std::vector<std::byte> bytes(first_read(descriptor, limit));
  std::size_t filled = 0;
  while (true) {
    if (filled == bytes.size()) bytes.resize(filled + read_step);
    const ssize_t count = retry([&] {
      return ::pread(descriptor, bytes.data() + filled, bytes.size() - filled,
                     static_cast<off_t>(filled));
    });
    if (count < 0) return sys_fail("pread");
    filled += static_cast<std::size_t>(count);
    if (filled > limit) return std::unexpected(SysError{"pread", EFBIG});
    if (count == 0) break;
  }
  bytes.resize(filled);
  return bytes;
}

SysResult<void> write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = retry([&] { return ::write(descriptor, bytes.data(), bytes.size()); });
    if (count < 0) return sys_fail("write");
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

SysResult<void> send_record(int socket, std::span<const std::byte> record, std::span<const int> fds,
                            int flags) {
  if (fds.empty()) {
    // Not sendmsg: a gateway's filter allows it on the launcher's channel alone, so that it can
    // attach a descriptor to nothing else.
    const auto sent =
        retry([&] { return ::send(socket, record.data(), record.size(), flags | MSG_NOSIGNAL); });
    if (sent < 0) return sys_fail("send");
    return {};
  }
  if (fds.size() > max_record_fds) return std::unexpected(SysError{"sendmsg", E2BIG});
  iovec part{const_cast<std::byte*>(record.data()), record.size()};
  FdControl control;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = CMSG_SPACE(fds.size_bytes());
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(fds.size_bytes());
  std::memcpy(CMSG_DATA(header), fds.data(), fds.size_bytes());
  if (retry([&] { return ::sendmsg(socket, &message, flags | MSG_NOSIGNAL); }) < 0) {
    return sys_fail("sendmsg");
  }
  return {};
}

SysResult<Received> receive_record(int socket, std::span<std::byte> buffer, int flags) {
  iovec part{buffer.data(), buffer.size()};
  FdControl control;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  const ssize_t count =
      retry([&] { return ::recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC); });
  if (count < 0) return sys_fail("recvmsg");
  Received received{static_cast<std::size_t>(count), take_fds(message)};
  const bool is_cut = (message.msg_flags & MSG_TRUNC) != 0;
  const bool has_lost_fds = (message.msg_flags & MSG_CTRUNC) != 0;
  if (is_cut || (has_lost_fds && received.fds.size() == max_record_fds)) {
    return std::unexpected(SysError{"recvmsg", EMSGSIZE});
  }
  if (has_lost_fds) return std::unexpected(SysError{"recvmsg", EMFILE});
  return received;
}

SysResult<void> write_control_file(int directory, const char* name, std::string_view text) {
  const Fd file = CELLBLOCK_TRY(open_at(directory, name, O_WRONLY));
  return write_all(file.get(), text);
}

SysResult<std::string> read_control_file(int directory, const char* name, std::size_t limit) {
  const Fd file = CELLBLOCK_TRY(open_at(directory, name, O_RDONLY));
  const auto bytes = CELLBLOCK_TRY(read_all(file.get(), limit, Sealing::any));
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

SysResult<FileStamp> stamp_of(const Fd& file) {
  struct statx status{};
  constexpr unsigned wanted = STATX_INO | STATX_SIZE | STATX_CTIME;
  if (::statx(file.get(), "", AT_EMPTY_PATH, wanted, &status) < 0) return sys_fail("statx");
  return FileStamp{::gnu_dev_makedev(status.stx_dev_major, status.stx_dev_minor), status.stx_ino,
                   status.stx_size, static_cast<std::uint64_t>(status.stx_ctime.tv_sec),
                   status.stx_ctime.tv_nsec};
}

}  // namespace cellblock
