#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "policy/config/config.h"
#include "policy/egress/dns_message.h"
#include "supervisor/egress/lookup.h"
#include "supervisor/egress/name_table.h"
#include "supervisor/ipc/wire.h"

namespace cellblock::egress {

using TellEvent = std::function<void(const wire::EgressEvent&)>;

wire::EgressEvent event_about(wire::EgressKind kind, wire::EgressReason reason,
                              std::string_view host = {}, std::uint16_t port = 0);

enum class DnsActionKind : std::uint8_t { ignore, reply, look_up };

struct DnsAction {
  DnsActionKind kind = DnsActionKind::ignore;
  std::string reply;
  DnsQuestion question;  ///< look_up: its name
};

/// Decides about the cell's questions. A name that is allowed is resolved before it is answered, so
/// that the server hears of a name that does not exist where it expects to; the answer is never
/// what was found but an address that stands for the name. What is not allowed does not exist:
/// NXDOMAIN is the one answer after which no client tries again.
class DnsResponder {
 public:
  DnsResponder(const Egress& rules, NameTable& names, TellEvent tell);

  DnsAction read(std::string_view message);
  std::string answer(const DnsQuestion& question, const LookupResult& found);
  /// A failure, after which the client may ask again.
  std::string decline(const DnsQuestion& question, wire::EgressReason reason);

 private:
  std::string answer_with_address(const DnsQuestion& question);
  std::string give_up(const DnsQuestion& question, DnsCode code, wire::EgressReason reason);

  const Egress& rules_;
  NameTable& names_;
  TellEvent tell_;
};

}  // namespace cellblock::egress
