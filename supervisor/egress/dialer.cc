#include "supervisor/egress/dialer.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "supervisor/egress/socket_io.h"

namespace cellblock::egress {
namespace {

// The families in turn, IPv6 first, each in the resolver's order; then the whole from behind.
std::vector<InternetAddress> in_turn(const std::vector<InternetAddress>& addresses) {
  std::vector<InternetAddress> ipv4;
  std::vector<InternetAddress> ipv6;
  for (const auto& address : addresses) (is_ipv4(address) ? ipv4 : ipv6).push_back(address);
  std::vector<InternetAddress> all;
  for (std::size_t i = 0; i < std::max(ipv4.size(), ipv6.size()); ++i) {
    if (i < ipv6.size()) all.push_back(ipv6[i]);
    if (i < ipv4.size()) all.push_back(ipv4[i]);
  }
  std::ranges::reverse(all);
  return all;
}

}  // namespace

struct Dialer::Attempt {
  Attempt(Dialer& dialer, Fd connecting, const InternetAddress& to)
      : socket(std::move(connecting)),
        address(to),
        watch(dialer.loop_, socket.get()),
        timer(dialer.loop_, [this, &dialer] { dialer.lose(*this, ETIMEDOUT); }) {
    watch.on_writable = [this, &dialer] { dialer.settle(*this); };
  }

  Fd socket;
  InternetAddress address;
  Watch watch;
  Timer timer;
};

Dialer::Dialer(EventLoop& loop, const std::vector<InternetAddress>& addresses, std::uint16_t port,
               Done done)
    : loop_(loop),
      done_(std::move(done)),
      port_(port),
      left_(in_turn(addresses)),
      last_error_(EHOSTUNREACH),
      next_(loop, [this] { begin_next(); }),
      deadline_(loop, [this] { finish({.socket = {}, .address = {}, .error = ETIMEDOUT}); }),
      later_(loop) {
  deadline_.set(all);
  begin_next();
}

Dialer::~Dialer() = default;

void Dialer::begin_next() {
  if (finished_) return;
  const std::size_t before = attempts_.size();
  while (!left_.empty() && attempts_.size() == before && before < at_one_time) {
    const InternetAddress address = left_.back();
    left_.pop_back();
    begin(address);
  }
  if (attempts_.empty()) return finish({.socket = {}, .address = {}, .error = last_error_});
  if (!left_.empty() && attempts_.size() < at_one_time) next_.set(head_start);
}

void Dialer::begin(const InternetAddress& address) {
  auto socket = start_connection({address, port_});
  if (!socket) {
    last_error_ = socket.error().number;
    return;
  }
  Attempt& attempt =
      *attempts_.emplace_back(std::make_unique<Attempt>(*this, *std::move(socket), address));
  attempt.timer.set(patience);
  // One that cannot be watched ends with its patience.
  static_cast<void>(attempt.watch.want_write(true));
}

void Dialer::settle(Attempt& attempt) {
  const int error = connect_error(attempt.socket.get());
  if (error != 0) return lose(attempt, error);
  attempt.watch.forget();
  finish({.socket = std::move(attempt.socket), .address = attempt.address, .error = 0});
}

void Dialer::lose(Attempt& attempt, int error) {
  last_error_ = error;
  const auto place =
      std::ranges::find_if(attempts_, [&](const auto& other) { return other.get() == &attempt; });
  if (place == attempts_.end()) return;
  attempt.watch.forget();
  attempt.timer.cancel();
  // Its own callback may be running.
  lost_.splice(lost_.end(), attempts_, place);
  later_.run([this] { lost_.clear(); });
  begin_next();
}

void Dialer::finish(Dialled dialled) {
  if (std::exchange(finished_, true)) return;
  next_.cancel();
  deadline_.cancel();
  // std::function wants what it holds to be copyable.
  auto result = std::make_shared<Dialled>(std::move(dialled));
  later_.run([this, result] {
    attempts_.clear();
    // Which may be the end of this object.
    const Done done = std::move(done_);
    done(std::move(*result));
  });
}

}  // namespace cellblock::egress
