#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "supervisor/http/server.h"
#include "supervisor/http_connection/http_context.h"

// Who gets a place among the connections over TCP, and who has to go for it.
namespace cellblock::http {
namespace {

constexpr int accepts_per_wake = 16;
// For the first request of a connection while others want its place: whoever connects as fast as it
// can fills the kernel's queue, where the others keep their turn, and pushes out only itself.
constexpr Milliseconds stranger_time{100};

Fd accept_one(int socket, sockaddr_storage& from) {
  socklen_t size = sizeof from;
  return Fd(
      ::accept4(socket, reinterpret_cast<sockaddr*>(&from), &size, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

// "192.0.2.7", "2001:db8::1"
std::string address_text(const sockaddr_storage& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes = nullptr;
  if (address.ss_family == AF_INET) bytes = &reinterpret_cast<const sockaddr_in&>(address).sin_addr;
  if (address.ss_family == AF_INET6) {
    bytes = &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  }
  const bool is_known = bytes != nullptr &&
                        ::inet_ntop(address.ss_family, bytes, text.data(), text.size()) != nullptr;
  return is_known ? text.data() : "an unknown address";
}

// Nothing of the next one's: the socket itself is of no use any more.
bool is_broken(int accept_error) {
  return accept_error == EBADF || accept_error == EINVAL || accept_error == ENOTSOCK ||
         accept_error == EOPNOTSUPP;
}

}  // namespace

void Server::accept_some() {
  for (int i = 0; i < accepts_per_wake; ++i) {
    // Nobody goes for somebody who is not there.
    if (tcp_guests_ >= config_.http->max_connections && !somebody_waits()) return;
    if (tcp_guests_ >= config_.http->max_connections && !make_room()) {
      // They wait in the kernel's queue.
      static_cast<void>(listening_.want_read(false));
      return pause_.set(retry_pause);
    }
    sockaddr_storage from{};
    Fd socket = accept_one(listener_.get(), from);
    if (socket.valid()) {
      welcome(std::move(socket), std::nullopt, address_text(from));
      continue;
    }
    if (is_broken(errno)) return fail_listening(errno);
    if (errno != EMFILE && errno != ENFILE) return;
    static_cast<void>(listening_.want_read(false));
    return pause_.set(retry_pause);
  }
}

bool Server::somebody_waits() const {
  pollfd listening{listener_.get(), POLLIN, 0};
  return ::poll(&listening, 1, 0) > 0;
}

// Whoever has shown no token yet, the longest: such connections cost no right, so they must not
// keep anybody out. One whose request lies in the socket already is looked at first.
bool Server::make_room() {
  for (const GuestId id : strangers()) {
    auto found = guests_.find(id);
    if (found != guests_.end()) found->second.connection->look();
    // What was found may have ended it.
    found = guests_.find(id);
    if (found == guests_.end()) return true;
    if (!found->second.connection->is_stranger()) continue;
    if (loop_.now() - found->second.since < stranger_time) return false;
    found->second.connection->close();
    return true;
  }
  return push_out_idle();
}

// Of the token that has most connections the oldest that waits for a further request: to close such
// a one is every server's right.
bool Server::push_out_idle() {
  std::map<CallerKey, std::size_t> counts;
  for (const auto& [id, guest] : guests_) {
    if (!guest.peer) ++counts[key_of(guest.caller)];
  }
  std::optional<GuestId> idle;
  std::size_t most = 0;
  for (const auto& [id, guest] : guests_) {
    if (guest.peer || !guest.connection->is_idle()) continue;
    const std::size_t count = counts[key_of(guest.caller)];
    if (count <= most) continue;
    idle = id;
    most = count;
  }
  return idle && close_idle(*idle);
}

// What has come meanwhile is looked at first. False: it was not idle any more.
bool Server::close_idle(GuestId id) {
  guests_.at(id).connection->look();
  const auto found = guests_.find(id);
  if (found == guests_.end()) return true;
  if (!found->second.connection->is_idle()) return false;
  found->second.connection->close();
  return true;
}

// One token's connections are bounded as those of one user of the Unix socket are.
bool Server::has_place_for(const Guest& newcomer, const Caller& caller) {
  std::size_t count = 0;
  std::optional<GuestId> idle;
  for (const auto& [id, guest] : guests_) {
    if (&guest == &newcomer || guest.peer || guest.connection->is_stranger()) continue;
    if (key_of(guest.caller) != key_of(caller)) continue;
    ++count;
    if (!idle && guest.connection->is_idle()) idle = id;
  }
  return count < config_.listen.max_connections_per_user || (idle && close_idle(*idle));
}

// The oldest first.
std::vector<Server::GuestId> Server::strangers() const {
  std::vector<GuestId> ids;
  for (const auto& [id, guest] : guests_) {
    if (!guest.peer && guest.connection->is_stranger()) ids.push_back(id);
  }
  return ids;
}

}  // namespace cellblock::http
