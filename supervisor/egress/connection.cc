#include "supervisor/egress/connection.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "policy/egress/egress_policy.h"

namespace cellblock::egress {

using wire::EgressKind;
using wire::EgressReason;

Connection::Connection(EgressContext& around, std::uint32_t number, Fd cell, Done done)
    : around_(around),
      number_(number),
      cell_(around.loop, std::move(cell)),
      deadline_(around.loop, [this] { refuse(EgressReason::malformed); }),
      done_(std::move(done)),
      later_(around.loop) {}

void Connection::go_where_it_was_sent() {
  const auto address = local_address(cell_.fd.get());
  if (!address) return refuse(EgressReason::not_allowed, address.error().number);
  begin({.host = {}, .address = address->address, .port = address->port});
}

void Connection::go_where_it_asks() {
  is_proxied_ = true;
  deadline_.set(patience);
  cell_.watch.on_readable = [this] { read_request(); };
  if (!cell_.watch.want_read(true)) refuse(EgressReason::malformed);
}

void Connection::read_request() {
  std::array<char, max_proxy_request> buffer;
  const auto room = std::span(buffer).first(max_proxy_request - received_.size());
  const IoResult got = receive(cell_.fd.get(), room);
  if (got.status == IoStatus::would_block) return;
  // Without an event: it asked for nothing.
  if (got.status != IoStatus::done) return finish();
  around_.budget.take(got.count);
  received_.append(buffer.data(), got.count);
  while (take_step(handshake_.next(received_))) {
  }
}

// Whether there may be another step in what has come.
bool Connection::take_step(const ProxyStep& step) {
  received_.erase(0, step.used);
  switch (step.kind) {
    case ProxyStepKind::need_more:
      return false;
    case ProxyStepKind::answer:
      if (answer(step.reply)) return true;
      finish();
      return false;
    case ProxyStepKind::connect:
      cell_.watch.forget();
      deadline_.cancel();
      begin(step.target);
      return false;
    case ProxyStepKind::refuse:
      break;
  }
  around_.tell(event(EgressKind::connect_refused, EgressReason::malformed));
  if (!answer(step.reply)) abort_on_close(cell_.fd.get());
  finish();
  return false;
}

void Connection::begin(Target target) {
  target_ = std::move(target);
  // Also where a proxy's client looked the name up itself.
  if (const std::string* name = around_.names.name_of(target_.address);
      name != nullptr && !target_.has_name()) {
    target_.host = *name;
  }
  if (around_.budget.is_used_up()) return refuse(EgressReason::out_of_bytes);
  if (!is_allowed()) return refuse(EgressReason::not_allowed);
  if (!target_.has_name()) return dial({target_.address});
  if (!may_ask()) return refuse(EgressReason::too_many_names);
  lookup_ = around_.resolver.look_up(target_.host,
                                     [this](const LookupResult& found) { resolved(found); });
}

bool Connection::is_allowed() const {
  if (target_.has_name()) return may_connect_to_name(around_.rules, target_.host, target_.port);
  // One that stands for no name yet stands for nothing, whatever a range says.
  return !around_.names.is_synthetic(target_.address) &&
         may_connect_to_address(around_.rules, target_.address, target_.port);
}

// A name that the rules spell out carries nothing to its zone.
bool Connection::may_ask() const {
  return is_named_exactly(around_.rules, target_.host, target_.address, target_.port) ||
         around_.questions.take(around_.loop.now());
}

void Connection::resolved(const LookupResult& found) {
  if (found.status != LookupStatus::found) return refuse(EgressReason::not_resolved);
  std::vector<InternetAddress> allowed;
  std::ranges::copy_if(found.addresses, std::back_inserter(allowed), [&](const auto& address) {
    return may_dial(around_.rules, address, target_.port);
  });
  if (allowed.empty()) {
    target_.address = found.addresses.front();
    return refuse(EgressReason::private_address);
  }
  dial(allowed);
}

void Connection::dial(const std::vector<InternetAddress>& addresses) {
  dialer_.emplace(around_.loop, addresses, target_.port,
                  [this](Dialled result) { dialled(std::move(result)); });
}

void Connection::dialled(Dialled result) {
  if (!result.socket.valid()) return refuse(EgressReason::unreachable, result.error);
  target_.address = result.address;
  around_.tell(event(EgressKind::connected, EgressReason::none));
  if (is_proxied_ && !answer(connected_reply(handshake_.dialect()))) {
    abort_on_close(cell_.fd.get());
    relay_ended({});
    return;
  }
  cell_.watch.forget();
  Relay::Start start{.cell = std::move(cell_.fd),
                     .upstream = std::move(result.socket),
                     .name = target_.host,
                     .first = std::move(received_)};
  relay_.emplace(around_.loop, std::move(start), around_.budget,
                 [this](const RelayEnd& end) { relay_ended(end); });
}

void Connection::hang_up() {
  if (relay_) return relay_ended(relay_->so_far());
  finish();
}

void Connection::relay_ended(const RelayEnd& end) {
  if (finished_) return;
  wire::EgressEvent closed = event(EgressKind::closed, end.reason);
  closed.sent = end.sent;
  closed.received = end.received;
  around_.tell(closed);
  finish();
}

void Connection::refuse(EgressReason reason, int error) {
  if (finished_) return;
  wire::EgressEvent refused = event(EgressKind::connect_refused, reason);
  refused.error = error;
  around_.tell(refused);
  // A proxy's client is told; another one can only be told that it is over.
  if (!is_proxied_ || !answer(refused_reply(handshake_.dialect(), reason))) {
    abort_on_close(cell_.fd.get());
  }
  finish();
}

// A fresh socket takes so little at once, or its client has not read the answer before.
bool Connection::answer(const std::string& reply) {
  if (reply.empty()) return false;
  return send(cell_.fd.get(), reply).count == reply.size();
}

wire::EgressEvent Connection::event(EgressKind kind, EgressReason reason) const {
  wire::EgressEvent event = event_about(kind, reason, target_.host, target_.port);
  event.connection = number_;
  event.address = target_.address;
  return event;
}

void Connection::finish() {
  if (std::exchange(finished_, true)) return;
  cell_.watch.forget();
  deadline_.cancel();
  lookup_.reset();
  later_.run([this] {
    // Which is the end of this object.
    const Done done = std::move(done_);
    done();
  });
}

}  // namespace cellblock::egress
