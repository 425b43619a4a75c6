#include "supervisor/launcher/child/attached_record.h"

#include <signal.h>  // NOLINT(modernize-deprecated-headers)
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>

#include "supervisor/os/fork_without_handlers.h"

namespace cellblock::launcher {
namespace {

// The kernel's SCM_MAX_FD: all that can be attached to one record.
constexpr std::size_t most_descriptors = 253;

struct alignas(cmsghdr) Control {
  std::array<char, CMSG_SPACE(sizeof(int) * most_descriptors)> bytes{};
};

// --- in the child: system calls on memory that was there before ----------------------------------

/// Its number, or -1: none, or more than one.
int only_descriptor(msghdr& message) {
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS ||
      header->cmsg_len != CMSG_LEN(sizeof(int))) {
    return -1;
  }
  int number = -1;
  std::memcpy(&number, CMSG_DATA(header), sizeof number);
  return number;
}

std::uint32_t path_of(int descriptor, std::array<char, AttachedRecord::longest_path>& path) {
  constexpr std::string_view folder = "/proc/self/fd/";
  std::array<char, 32> link{};
  char* const end = std::ranges::copy(folder, link.begin()).out;
  std::to_chars(end, link.data() + link.size() - 1, descriptor);
  const ssize_t length = ::readlink(link.data(), path.data(), path.size());
  const bool whole = length > 0 && static_cast<std::size_t>(length) < path.size();
  return whole ? static_cast<std::uint32_t>(length) : 0;
}

void receive_into(AttachedRecord& record, int channel) {
  iovec part{&record.request, sizeof record.request};
  Control control;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  const ssize_t count = ::recvmsg(channel, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  const int descriptor = count < 0 ? -1 : only_descriptor(message);
  if (count != sizeof record.request || descriptor < 0 ||
      (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
    return;
  }
  record.kind = AttachedRecord::Kind::request;
  if (identify_directory(descriptor, record.identity)) {
    record.path_length = path_of(descriptor, record.path);
  }
}

// Both channels are closed before the end, which may not come: nobody is to wait for their end.
[[noreturn]] void receive_and_tell(int channel, int line, std::span<const int> kept) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  AttachedRecord record;
  if (!close_all_but(kept)) ::_exit(1);
  receive_into(record, channel);
  ::close(channel);
  const ssize_t sent = ::send(line, &record, sizeof record, MSG_NOSIGNAL);
  ::close(line);
  ::_exit(sent == sizeof record ? 0 : 1);
}

}  // namespace

PassedDirectory AttachedRecord::directory() const {
  const std::size_t length = std::min<std::size_t>(path_length, path.size());
  return {identity, std::string(path.data(), length)};
}

SysResult<AttachedChild> receive_attached_in_child(int channel) {
  Pair line = CELLBLOCK_TRY(make_seqpacket_pair());
  std::array<int, 2> kept{channel, line.second.get()};
  std::ranges::sort(kept);
  const pid_t child = fork_without_handlers();
  if (child < 0) return sys_fail("fork");
  if (child == 0) receive_and_tell(channel, line.second.get(), kept);
  return AttachedChild{child, std::move(line.first)};
}

}  // namespace cellblock::launcher
