#include "supervisor/gateway/io/byte_io.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cstring>

namespace cellblock::gateway {

namespace {

// An error that is not "later" is the end of that stream: there is nobody to repair it.
IoResult result_of(ssize_t count) {
  if (count > 0) return {IoStatus::done, static_cast<std::size_t>(count)};
  if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return {IoStatus::would_block, 0};
  return {IoStatus::closed, 0};
}

template <class Call>
IoResult retried(Call call) {
  for (;;) {
    const ssize_t count = call();
    if (count < 0 && errno == EINTR) continue;
    return result_of(count);
  }
}

// One by one: who may call sendmsg may send descriptors along, and the gateway may to the launcher
// alone.
IoResult send_pieces(int socket, std::span<const iovec> pieces) {
  std::size_t sent = 0;
  for (const iovec& piece : pieces) {
    if (piece.iov_len == 0) continue;
    const IoResult result = retried(
        [&] { return ::send(socket, piece.iov_base, piece.iov_len, MSG_DONTWAIT | MSG_NOSIGNAL); });
    sent += result.count;
    // What is wrong with the socket shows again at the next call.
    if (result.status != IoStatus::done && sent == 0) return result;
    if (result.count < piece.iov_len) break;
  }
  return {IoStatus::done, sent};
}

// One own pipe tells for all anonymous pipes of this kernel.
bool pipes_know_nowait() {
  const auto pipe = make_pipe();
  if (!pipe) return false;
  char byte = 0;
  const iovec piece{&byte, 1};
  return ::preadv2(pipe->first.get(), &piece, 1, -1, RWF_NOWAIT) < 0 && errno == EAGAIN;
}

SysResult<Stream> classify_pipe(int descriptor) {
  struct statfs system{};
  if (::fstatfs(descriptor, &system) != 0) return sys_fail("fstatfs");
  static const bool known = pipes_know_nowait();
  // A named FIFO lacks what makes RWF_NOWAIT work.
  if (system.f_type != PIPEFS_MAGIC || !known) {
    return std::unexpected(SysError{"preadv2", EOPNOTSUPP});
  }
  return Stream::foreign_pipe;
}

bool has_option(int socket, int option, int wanted) {
  int value = 0;
  socklen_t size = sizeof value;
  return ::getsockopt(socket, SOL_SOCKET, option, &value, &size) == 0 && value == wanted;
}

// Only a Unix socket can promise that a call on it, and its close, never wait for a network.
SysResult<Stream> classify_socket(int descriptor) {
  const bool is_unix_stream = has_option(descriptor, SO_DOMAIN, AF_UNIX) &&
                              has_option(descriptor, SO_TYPE, SOCK_STREAM) &&
                              has_option(descriptor, SO_ACCEPTCONN, 0);
  if (!is_unix_stream) return std::unexpected(SysError{"getsockopt", EPROTOTYPE});
  return Stream::socket;
}

}  // namespace

IoResult read_some(int descriptor, Stream stream, std::span<char> into) {
  const iovec piece{into.data(), into.size()};
  switch (stream) {
    case Stream::own_pipe:
      return retried([&] { return ::read(descriptor, into.data(), into.size()); });
    case Stream::foreign_pipe:
      return retried([&] { return ::preadv2(descriptor, &piece, 1, -1, RWF_NOWAIT); });
    case Stream::socket:
      break;
  }
  return retried([&] { return ::recv(descriptor, into.data(), into.size(), MSG_DONTWAIT); });
}

IoResult write_some(int descriptor, Stream stream, std::span<const iovec> pieces) {
  const int count = static_cast<int>(pieces.size());
  switch (stream) {
    case Stream::own_pipe:
      return retried([&] { return ::writev(descriptor, pieces.data(), count); });
    case Stream::foreign_pipe:
      return retried([&] { return ::pwritev2(descriptor, pieces.data(), count, -1, RWF_NOWAIT); });
    case Stream::socket:
      break;
  }
  return send_pieces(descriptor, pieces);
}

IoResult read_with_descriptors(int socket, std::span<char> into, std::vector<Fd>& descriptors) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(max_handed_descriptors * sizeof(int))> control{};
  iovec piece{into.data(), into.size()};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const IoResult result =
      retried([&] { return ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC); });
  if (result.status != IoStatus::done) return result;

  const std::size_t before = descriptors.size();
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(part) + i * sizeof(int), sizeof number);
      descriptors.emplace_back(number);
    }
  }
  if ((message.msg_flags & MSG_CTRUNC) != 0) descriptors.resize(before);
  return result;
}

bool is_directory(int descriptor) {
  struct statx status{};
  constexpr int flags = AT_EMPTY_PATH | AT_STATX_DONT_SYNC;
  return ::statx(descriptor, "", flags, STATX_TYPE, &status) == 0 && S_ISDIR(status.stx_mode);
}

SysResult<void> prepare_own_pipe(int descriptor) {
  const int flags = ::fcntl(descriptor, F_GETFL);
  if (flags < 0 || ::fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) != 0) return sys_fail("fcntl");
  return {};
}

void grow_pipe(int descriptor, std::size_t wanted_bytes) {
  static_cast<void>(::fcntl(descriptor, F_SETPIPE_SZ, static_cast<int>(wanted_bytes)));
}

SysResult<Stream> classify_foreign(int descriptor) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) return sys_fail("fstat");
  if (S_ISFIFO(status.st_mode)) return classify_pipe(descriptor);
  if (S_ISSOCK(status.st_mode)) return classify_socket(descriptor);
  return std::unexpected(SysError{"fstat", ENOTSUP});
}

}  // namespace cellblock::gateway
