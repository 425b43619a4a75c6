#include "supervisor/egress/relay.h"

#include <utility>

#include "supervisor/egress/client_hello.h"

namespace cellblock::egress {

using wire::EgressReason;

Relay::Relay(EventLoop& loop, Start start, ByteBudget& budget, Done done)
    : cell_(loop, std::move(start.cell)),
      upstream_(loop, std::move(start.upstream)),
      out_(cell_, upstream_, budget),
      in_(upstream_, cell_, budget),
      name_(std::move(start.name)),
      judging_(!name_.empty()),
      done_(std::move(done)),
      greeting_(loop, [this] { finish(EgressReason::malformed, FlowStatus::broken); }),
      later_(loop) {
  cell_.watch.on_readable = [this] { from_cell(); };
  cell_.watch.on_writable = [this] { check(in_.write()); };
  upstream_.watch.on_readable = [this] { check(in_.read()); };
  upstream_.watch.on_writable = [this] { check(out_.write()); };
  check(in_.push({}));
  check(out_.push(judge(start.first)));
}

void Relay::from_cell() {
  const FlowStatus status = out_.read([this](std::string_view bytes) { return judge(bytes); });
  if (judging_ && status == FlowStatus::ended && !held_.empty()) refused_ = EgressReason::malformed;
  if (!judging_) held_ = {};
  check(status);
}

std::string_view Relay::judge(std::string_view bytes) {
  if (!judging_) return bytes;
  held_.append(bytes);
  if (held_.size() < wanted_) return {};
  const Hello hello = judge_hello(held_);
  if (hello.kind == HelloKind::need_more) {
    wanted_ = hello.wanted;
    if (!held_.empty() && !greeting_.is_set()) greeting_.set(patience);
    return {};
  }
  judging_ = false;
  greeting_.cancel();
  if (hello.kind == HelloKind::malformed) refused_ = EgressReason::malformed;
  if (hello.kind == HelloKind::named && hello.name != name_) {
    refused_ = EgressReason::server_name_differs;
  }
  return refused_ == EgressReason::none ? std::string_view(held_) : std::string_view();
}

void Relay::check(FlowStatus status) {
  if (refused_ != EgressReason::none) return finish(refused_, FlowStatus::broken);
  if (status == FlowStatus::out_of_bytes) return finish(EgressReason::out_of_bytes, status);
  if (status == FlowStatus::broken) return finish(EgressReason::none, status);
  if (out_.has_ended() && in_.has_ended()) finish(EgressReason::none, FlowStatus::ended);
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
