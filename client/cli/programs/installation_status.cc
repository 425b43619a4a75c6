#include "client/cli/programs/installation_status.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>

#include "client/cli/common/admin_sockets.h"
#include "client/connection/unix_connect.h"
#include "policy/base/result.h"

namespace cellblock::cli {
namespace {

using StatusJson = nlohmann::ordered_json;

constexpr int status_patience_ms = 10'000;
constexpr std::size_t longest_status = 16U << 20;

std::unexpected<client::Error> cannot(client::ErrorCode code, std::string text) {
  return std::unexpected(client::Error{.code = code, .text = std::move(text)});
}

client::OwnedFd descriptor_in(msghdr& message) {
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS ||
      header->cmsg_len != CMSG_LEN(sizeof(int))) {
    return {};
  }
  int number = -1;
  std::memcpy(&number, CMSG_DATA(header), sizeof number);
  return client::OwnedFd(number);
}

/// One message of the daemon's: a line that refuses, or a descriptor of what was asked for.
struct StatusMessage {
  std::string text;
  client::OwnedFd file;
};

client::Result<StatusMessage> receive_status(int socket) {
  pollfd ready{socket, POLLIN, 0};
  if (::poll(&ready, 1, status_patience_ms) <= 0) {
    return cannot(client::ErrorCode::timed_out, "the daemon does not answer");
  }
  std::array<char, 4096> bytes;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  iovec part{bytes.data(), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t count = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (count <= 0) {
    return cannot(client::ErrorCode::disconnected, "the daemon closed the connection");
  }
  return StatusMessage{{bytes.data(), static_cast<std::size_t>(count)}, descriptor_in(message)};
}

client::Result<std::string> text_in(int file) {
  std::string text;
  std::array<char, 16384> bytes;
  while (text.size() <= longest_status) {
    const ssize_t count =
        ::pread(file, bytes.data(), bytes.size(), static_cast<off_t>(text.size()));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return cannot(client::ErrorCode::protocol, "the daemon's status cannot be read");
    if (count == 0) return text;
    text.append(bytes.data(), static_cast<std::size_t>(count));
  }
  return cannot(client::ErrorCode::too_large, "the daemon's status is too long");
}

client::Error refusal_in(const std::string& line) {
  const auto json = StatusJson::parse(line, nullptr, false);
  const auto text = [](const StatusJson& object, const char* name) {
    const auto member = object.is_object() ? object.find(name) : object.end();
    return member != object.end() && member->is_string() ? member->get<std::string>() : "";
  };
  const StatusJson error = json.is_object() ? json.value("error", StatusJson()) : StatusJson();
  const StatusJson data = error.is_object() ? error.value("data", StatusJson()) : StatusJson();
  return {.code = client::ErrorCode::refused,
          .text = text(error, "message"),
          .failure = text(data, "code")};
}

}  // namespace

std::string installation_socket(const Context& context) {
  return switch_path(context.socket, "status");
}

client::Result<std::string> ask_installation(const Context& context) {
  const auto socket = CELLBLOCK_TRY(client::connect_blocking(installation_socket(context)));
  const auto message = CELLBLOCK_TRY(receive_status(socket.get()));
  if (!message.file.valid()) return std::unexpected(refusal_in(message.text));
  return text_in(message.file.get());
}

}  // namespace cellblock::cli
