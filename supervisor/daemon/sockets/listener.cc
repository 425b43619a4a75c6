#include "supervisor/daemon/sockets/listener.h"

#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <utility>

namespace cellblock::daemon {
namespace {

constexpr int backlog = 128;
constexpr int accepts_per_wake = 16;  // then the other events have their turn
constexpr std::chrono::milliseconds accept_pause{50};

// Without SOCK_NONBLOCK: the gateway gets a socket with the flags of socket(2).
Fd accept_one(int socket) { return Fd(::accept4(socket, nullptr, nullptr, SOCK_CLOEXEC)); }

}  // namespace

Result<std::unique_ptr<Listener>> Listener::listen(boost::asio::io_context& loop, Fd bound,
                                                   OnConnection on_connection, Tenure tenure) {
  Fd last_copy = CELLBLOCK_TRY(duplicate(bound.get()));
  // For a lent socket this also renews the listener's credentials (SO_PEERCRED).
  if (::listen(bound.get(), backlog) < 0) return sys_fail("listen");
  return std::unique_ptr<Listener>(
      new Listener(loop, std::move(bound), std::move(last_copy), std::move(on_connection), tenure));
}

Listener::Listener(boost::asio::io_context& loop, Fd socket, Fd last_copy,
                   OnConnection on_connection, Tenure tenure)
    : on_connection_(std::move(on_connection)),
      tenure_(tenure),
      last_copy_(std::move(last_copy)),
      timer_(loop),
      watch_(loop, std::move(socket), [this] { accept_some(); }) {}

Listener::~Listener() {
  if (tenure_ == Tenure::own) ::shutdown(last_copy_.get(), SHUT_RDWR);
  last_copy_.release();
}

void Listener::accept_some() {
  for (int i = 0; i < accepts_per_wake && !watch_.paused(); ++i) {
    Fd connection = accept_one(watch_.get());
    if (connection.valid()) {
      on_connection_(std::move(connection));
      continue;
    }
    if (errno == EMFILE || errno == ENFILE) hold_for_a_moment();
    return;
  }
}

// Without the pause the loop would spin on a queue that stays readable.
void Listener::hold_for_a_moment() {
  watch_.pause();
  timer_.expires_after(accept_pause);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error && !held_) go_on();
  });
}

void Listener::hold() {
  held_ = true;
  watch_.pause();
}

void Listener::go_on() {
  held_ = false;
  if (!stopped_) watch_.resume();
}

// The backlog bounds this, since nothing is added to the queue after the shutdown.
void Listener::stop() {
  stopped_ = true;
  watch_.pause();
  if (tenure_ == Tenure::lent) return;
  ::shutdown(watch_.get(), SHUT_RDWR);
  for (Fd next = accept_one(watch_.get()); next.valid(); next = accept_one(watch_.get())) {
    on_connection_(std::move(next));
  }
}

}  // namespace cellblock::daemon
