#include "supervisor/egress/helper.h"

#include <cerrno>
#include <utility>

#include "policy/egress/egress_policy.h"

namespace cellblock::egress {

using wire::EgressKind;
using wire::EgressReason;
using wire::EgressSocketKind;

struct Helper::Listener {
  Listener(EventLoop& loop, ServedSocket served)
      : kind(served.kind),
        end(loop, std::move(served.socket)),
        again(loop, [this] { static_cast<void>(end.watch.want_read(true)); }) {}

  EgressSocketKind kind;
  End end;
  Timer again;
};

Result<std::unique_ptr<Helper>> Helper::make(EventLoop& loop, const Egress& rules, Fd gateway,
                                             std::vector<ServedSocket> sockets,
                                             const HelperOptions& options) {
  auto resolver = CELLBLOCK_TRY(Resolver::make(loop, options.resolver));
  auto helper =
      std::make_unique<Helper>(loop, rules, std::move(gateway), std::move(resolver), options.range);
  CELLBLOCK_CHECK(helper->sender_.start());
  for (ServedSocket& served : sockets) CELLBLOCK_CHECK(helper->serve(std::move(served)));
  return helper;
}

Helper::Helper(EventLoop& loop, const Egress& rules, Fd gateway, std::unique_ptr<Resolver> resolver,
               const SyntheticRange& range)
    : loop_(loop),
      sender_(loop, std::move(gateway)),
      names_(range),
      resolver_(std::move(resolver)),
      budget_(rules.max_bytes),
      around_{loop,
              rules,
              names_,
              *resolver_,
              budget_,
              questions_,
              [this](const wire::EgressEvent& event) { tell(event); }},
      responder_(rules, names_, around_.tell),
      lookups_(loop, responder_, *resolver_, budget_, questions_) {}

Helper::~Helper() = default;

void Helper::finish() {
  for (const auto& [number, connection] : connections_) connection->hang_up();
  sender_.finish();
}

void Helper::tell(const wire::EgressEvent& event) {
  const std::string_view host(event.host.data(), event.host_length);
  const bool is_named = is_named_exactly(around_.rules, host, event.address, event.port);
  sender_.tell(event, is_named ? EventQueue::Room::named : EventQueue::Room::shared);
}

SysResult<void> Helper::serve(ServedSocket served) {
  if (served.kind != EgressSocketKind::dns_udp) return listen(std::move(served));
  return udp_.emplace_back(std::make_unique<DnsUdp>(loop_, std::move(served.socket), lookups_))
      ->start();
}

SysResult<void> Helper::listen(ServedSocket served) {
  Listener& listener =
      *listeners_.emplace_back(std::make_unique<Listener>(loop_, std::move(served)));
  listener.end.watch.on_readable = [this, &listener] { accept_some(listener); };
  return listener.end.watch.want_read(true);
}

void Helper::accept_some(Listener& listener) {
  for (int i = 0; i < batch; ++i) {
    auto accepted = accept_from(listener.end.fd.get());
    if (accepted) {
      admit(listener.kind, *std::move(accepted));
      continue;
    }
    const int error = accepted.error().number;
    if (error != EMFILE && error != ENFILE && error != ENOBUFS && error != ENOMEM) return;
    // It stays readable; without a pause this would turn for ever.
    static_cast<void>(listener.end.watch.want_read(false));
    return listener.again.set(pause);
  }
}

void Helper::admit(EgressSocketKind kind, Fd socket) {
  if (kind == EgressSocketKind::dns_tcp) return admit_dns(std::move(socket));
  admit_connection(kind, std::move(socket));
}

void Helper::admit_connection(EgressSocketKind kind, Fd socket) {
  const std::uint32_t number = ++attempts_;
  if (connections_.size() >= around_.rules.max_connections) {
    abort_on_close(socket.get());
    auto event = event_about(EgressKind::connect_refused, EgressReason::too_many_connections);
    event.connection = number;
    return around_.tell(event);
  }
  auto made = std::make_unique<Connection>(around_, number, std::move(socket),
                                           [this, number] { connections_.erase(number); });
  Connection& connection = *made;
  connections_[number] = std::move(made);
  if (kind == EgressSocketKind::proxy) return connection.go_where_it_asks();
  connection.go_where_it_was_sent();
}

void Helper::admit_dns(Fd socket) {
  if (streams_.size() >= max_dns_streams) return;
  const std::uint32_t number = ++stream_count_;
  const auto stream = std::make_shared<DnsStream>(loop_, std::move(socket), lookups_,
                                                  [this, number] { streams_.erase(number); });
  streams_[number] = stream;
  stream->start();
}

}  // namespace cellblock::egress
