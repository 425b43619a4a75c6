#include "supervisor/egress/relay.h"

#include <string_view>
#include <utility>

namespace cellblock::egress {

using wire::EgressReason;

Relay::Relay(EventLoop& loop, Start start, ByteBudget& budget, Done done)
    : cell_(loop, std::move(start.cell)),
      upstream_(loop, std::move(start.upstream)),
      out_(cell_, upstream_, budget),
      in_(upstream_, cell_, budget),
      handshake_(std::move(start.name)),
      done_(std::move(done)),
      greeting_(loop, [this] { finish(EgressReason::malformed, FlowStatus::broken); }),
      later_(loop) {
  cell_.watch.on_readable = [this] { from_cell(); };
  cell_.watch.on_writable = [this] { check(in_.write()); };
  upstream_.watch.on_readable = [this] { from_upstream(); };
  upstream_.watch.on_writable = [this] { check(out_.write()); };
  check(in_.push({}));
  check(out_.push(handshake_.from_client(start.first)));
}

void Relay::from_cell() {
  if (handshake_.is_done()) return check(out_.read());
  const FlowStatus status =
      out_.read([this](std::string_view bytes) { return handshake_.from_client(bytes); });
  // What is held will not become whole.
  if (status == FlowStatus::ended && handshake_.holds()) {
    return finish(EgressReason::malformed, FlowStatus::broken);
  }
  check(status);
}

void Relay::from_upstream() {
  if (handshake_.is_done()) return check(in_.read());
  std::string_view released;
  check(in_.read([&](std::string_view bytes) {
    released = handshake_.from_server(bytes);
    return bytes;
  }));
  if (!finished_ && !released.empty()) check(out_.push(released));
}

void Relay::check(FlowStatus status) {
  const EgressReason refused = handshake_.refused();
  if (refused != EgressReason::none) return finish(refused, FlowStatus::broken);
  if (status == FlowStatus::out_of_bytes) return finish(EgressReason::out_of_bytes, status);
  if (status == FlowStatus::broken) return finish(EgressReason::none, status);
  if (out_.has_ended() && in_.has_ended()) return finish(EgressReason::none, FlowStatus::ended);
  if (!handshake_.is_within_greeting()) return greeting_.cancel();
  if (!greeting_.is_set()) greeting_.set(patience);
}

void Relay::finish(EgressReason reason, FlowStatus how) {
  if (std::exchange(finished_, true)) return;
  cell_.watch.forget();
  upstream_.watch.forget();
  greeting_.cancel();
  if (how != FlowStatus::ended) {
    abort_on_close(cell_.fd.get());
    abort_on_close(upstream_.fd.get());
  }
  later_.run([this, end = RelayEnd{reason, out_.moved(), in_.moved()}] {
    // Which may be the end of this object.
    const Done done = std::move(done_);
    done(end);
  });
}

}  // namespace cellblock::egress
