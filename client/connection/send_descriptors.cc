#include "client/connection/send_descriptors.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace cellblock::client {

ssize_t send_with_descriptors(int socket, std::string_view bytes,
                              std::span<const int> descriptors) {
  if (descriptors.empty() || descriptors.size() > max_sent_descriptors) {
    errno = EINVAL;
    return -1;
  }
  alignas(cmsghdr) std::array<char, CMSG_SPACE(max_sent_descriptors * sizeof(int))> control{};
  // Not written to: the C interface serves both directions.
  iovec text{.iov_base = const_cast<char*>(bytes.data()), .iov_len = bytes.size()};  // NOLINT
  msghdr message{};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
  std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
  return ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

std::optional<std::chrono::milliseconds> descriptors_backoff(unsigned attempt) {
  constexpr unsigned doublings = 6;
  constexpr std::chrono::milliseconds longest{50};
  constexpr std::chrono::milliseconds in_all{120'000};
  if (attempt == 0 || attempt > doublings + in_all / longest) return std::nullopt;
  if (attempt > doublings) return longest;
  return std::chrono::milliseconds(1U << (attempt - 1));
}

bool is_gone(int error) { return error == EPIPE || error == ECONNRESET || error == ENOTCONN; }

Error not_sent(int error) {
  return {.code = ErrorCode::disconnected,
          .text = "the descriptors could not be sent: " + std::generic_category().message(error)};
}

}  // namespace cellblock::client
