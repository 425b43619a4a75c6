#include "supervisor/daemon/listener.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace cellblock::daemon {
namespace {

constexpr int backlog = 128;
constexpr int accepts_per_wake = 16;  // then the other events have their turn

SysResult<Fd> open_reserve() { return open_at(AT_FDCWD, "/dev/null", O_RDONLY); }

// Without SOCK_NONBLOCK: what the gateway gets is as plain as socket(2) makes it.
Fd accept_one(int socket) { return Fd(::accept4(socket, nullptr, nullptr, SOCK_CLOEXEC)); }

}  // namespace

Result<std::unique_ptr<Listener>> Listener::listen(boost::asio::io_context& loop, Fd bound,
                                                   OnConnection on_connection) {
  Fd reserve = CELLBLOCK_TRY(open_reserve());
  if (::listen(bound.get(), backlog) < 0) return sys_fail("listen");
  return std::unique_ptr<Listener>(
      new Listener(loop, std::move(bound), std::move(reserve), std::move(on_connection)));
}

Listener::Listener(boost::asio::io_context& loop, Fd socket, Fd reserve, OnConnection on_connection)
    : on_connection_(std::move(on_connection)),
      reserve_(std::move(reserve)),
      watch_(loop, std::move(socket), [this] { accept_some(); }) {}

void Listener::accept_some() {
  for (int i = 0; i < accepts_per_wake; ++i) {
    Fd connection = accept_one(watch_.get());
    if (connection.valid()) {
      on_connection_(std::move(connection));
      continue;
    }
    if (errno == EMFILE || errno == ENFILE) turn_one_away();
    return;
  }
}

void Listener::turn_one_away() {
  reserve_.reset();
  accept_one(watch_.get()).reset();
  if (auto reserve = open_reserve()) reserve_ = std::move(*reserve);
}

}  // namespace cellblock::daemon
