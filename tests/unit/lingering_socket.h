#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <system_error>
#include <vector>

#include "supervisor/os/sys.h"

namespace cellblock {

/// A TCP socket whose last close takes 20 seconds: nobody reads what was sent into it.
class LingeringSocket {
 public:
  static constexpr int seconds = 20;

  LingeringSocket() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const name = reinterpret_cast<sockaddr*>(&address);
    require(::bind(listener_.get(), name, size), "bind");
    require(::listen(listener_.get(), 1), "listen");
    require(::getsockname(listener_.get(), name, &size), "getsockname");
    require(::connect(sender_.get(), name, size), "connect");
    fill();
    const linger waits{1, seconds};
    require(::setsockopt(sender_.get(), SOL_SOCKET, SO_LINGER, &waits, sizeof waits), "SO_LINGER");
  }

  /// From here the copy in the queue of `connection` is the last one.
  void queue_into(int connection, int flags = 0) {
    const std::array<int, 1> fds{sender_.get()};
    const char byte = 'x';
    const auto sent = send_record(connection, std::as_bytes(std::span(&byte, 1)), fds, flags);
    require(sent ? 0 : -1, "sendmsg");
    sender_.reset();
  }

 private:
  static void require(int result, const char* what) {
    if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  }
  void fill() const {
    const std::vector<char> bytes(1U << 16U);
    while (::send(sender_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL) > 0) {
    }
  }

  Fd listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  Fd sender_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
};

}  // namespace cellblock
