#include "supervisor/gateway/records/refused_names.h"

#include <algorithm>

#include "policy/egress/dns_message.h"

namespace cellblock::gateway {

namespace {

using egress::DnsCode;
using wire::EgressReason;

wire::EgressEvent refusal(EgressReason reason, std::string_view host = {}) {
  wire::EgressEvent event{.kind = wire::EgressKind::name_refused, .reason = reason};
  const std::size_t length = std::min<std::size_t>(host.size(), event.host.size());
  std::copy_n(host.begin(), length, event.host.begin());
  event.host_length = static_cast<std::uint8_t>(length);
  return event;
}

}  // namespace

RefusedName refuse_name(std::string_view message) {
  const auto question = egress::parse_question(message);
  if (question) {
    return {.reply = egress::dns_reply(*question, DnsCode::name_error),
            .event = refusal(EgressReason::not_allowed, question->name.value_or(""))};
  }
  const bool is_answered = question.error().code.has_value();
  return {.reply = is_answered ? egress::dns_reply(question.error()) : std::string(),
          .event = refusal(EgressReason::malformed)};
}

}  // namespace cellblock::gateway
