#include "supervisor/gateway/records/egress_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "policy/base/internet_address.h"
#include "policy/egress/dns_message.h"
#include "policy/egress/egress_rule.h"

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

namespace {

using wire::EgressEvent;
using wire::EgressKind;

struct ReasonWords {
  std::string_view name;
  std::string_view sentence;
};

// By number.
constexpr std::array<ReasonWords, 10> reasons{{
    {"none", ""},
    {"not_allowed", "no rule of egress.allow has this name, address and port"},
    {"private_address", "the name resolves only to addresses that no rule names"},
    {"not_resolved", "the name does not exist, or no resolver answered"},
    {"unreachable", "the other side did not take the connection"},
    {"server_name_differs", "TLS asked for another name than the one that was looked up"},
    {"too_many_connections", "egress.max_connections are open"},
    {"out_of_bytes", "egress.max_bytes is used up"},
    {"malformed", "a question or a proxy request that is none"},
    {"too_many_names", "this cell has looked up as many names as it may"},
}};
static_assert(reasons.size() == static_cast<std::size_t>(EgressReason::too_many_names) + 1);

const ReasonWords& words_of(EgressReason reason) {
  const auto number = static_cast<std::size_t>(reason);
  return reasons.at(number < reasons.size() ? number : 0);
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

std::string_view host_of(const EgressEvent& event) {
  return {event.host.data(), event.host_length};
}

// The helper could only count them: neither name nor address is left.
bool is_of_many(const EgressEvent& event) {
  return event.host_length == 0 && event.address == EgressEvent{}.address;
}

std::string address_of(const EgressEvent& event) {
  const std::string text = cellblock::text_of(event.address);
  return is_ipv4(event.address) ? text : "[" + text + "]";
}

std::string_view verb_of(EgressKind kind) {
  if (kind == EgressKind::name_refused) return "resolve";
  return kind == EgressKind::closed ? "go on with" : "connect";
}

constexpr std::uint16_t https_port = 443;

// Of a name that was only asked for the port is not known.
EgressProposal proposal_for(const EgressEvent& event) {
  const std::string target = target_of(event);
  return propose_egress_rule(event.port == 0 ? fmt::format("{}:{}", target, https_port) : target);
}

// No one rule allows many.
bool has_proposal(const EgressEvent& event) {
  return event.reason == EgressReason::not_allowed && !is_of_many(event);
}

constexpr std::string_view unknown_port = " (443 stands for the port that it wants)";

constexpr std::string_view without_network =
    "no name exists for a cell without a network: `network = \"none\"`";

std::string reason_for(const EgressEvent& event, NetworkMode network) {
  const bool is_closed = network == NetworkMode::none && event.reason == EgressReason::not_allowed;
  const std::string_view sentence = is_closed ? without_network : words_of(event.reason).sentence;
  const std::string why = has_proposal(event) ? proposal_for(event).why : std::string();
  return why.empty() ? std::string(sentence)
                     : fmt::format("{}, and none is proposed: {}", sentence, why);
}

std::string allow_for(const EgressEvent& event, NetworkMode network) {
  switch (event.reason) {
    case EgressReason::not_allowed: {
      if (!has_proposal(event)) return {};
      const std::string rule = proposal_for(event).rule;
      if (rule.empty()) return {};
      return fmt::format("{}egress.allow = [\"{}\"]{}",
                         network == NetworkMode::none ? "network = \"egress\" and " : "", rule,
                         event.port == 0 ? unknown_port : "");
    }
    case EgressReason::private_address:
      return "egress.allow with the range of that address, such as \"10.0.0.0/8:443\"";
    case EgressReason::too_many_connections:
      return "a larger egress.max_connections";
    case EgressReason::out_of_bytes:
      return "a larger egress.max_bytes";
    default:
      return {};
  }
}

// The rules let these pass.
NoRemedy no_remedy_for(EgressReason reason) {
  const bool is_allowed =
      reason == EgressReason::not_resolved || reason == EgressReason::unreachable;
  return is_allowed ? NoRemedy::allowed : NoRemedy::none_known;
}

}  // namespace

std::string_view name_of(EgressReason reason) { return words_of(reason).name; }

std::string_view kind_name_of(EgressKind kind) {
  switch (kind) {
    case EgressKind::name_refused:
      return "name_refused";
    case EgressKind::connect_refused:
      return "connect_refused";
    case EgressKind::connected:
      return "connected";
    case EgressKind::closed:
      break;
  }
  return "closed";
}

bool is_sound(const EgressEvent& event) {
  const auto kind = static_cast<unsigned>(event.kind);
  return kind >= 1 && kind <= 4 && static_cast<std::size_t>(event.reason) < reasons.size() &&
         event.host_length <= wire::max_host_name && event.count > 0 &&
         std::ranges::all_of(host_of(event), is_name_character);
}

bool is_refusal(const EgressEvent& event) {
  if (event.kind == EgressKind::closed) return event.reason != EgressReason::none;
  return event.kind != EgressKind::connected;
}

std::string target_of(const EgressEvent& event) {
  if (is_of_many(event)) return "(others)";
  const std::string host = event.host_length > 0 ? std::string(host_of(event)) : address_of(event);
  return event.port == 0 ? host : fmt::format("{}:{}", host, event.port);
}

std::optional<Denied> denied_by(const EgressEvent& event, std::uint64_t cell, std::int64_t at_ms,
                                NetworkMode network) {
  if (!is_refusal(event)) return std::nullopt;
  return Denied{.cell = cell,
                .at_ms = at_ms,
                .what = std::string(verb_of(event.kind)) + " " + target_of(event),
                .reason = reason_for(event, network),
                .allow = allow_for(event, network),
                .no_remedy = no_remedy_for(event.reason),
                .count = event.count};
}

void EgressTotals::add(const EgressEvent& event) {
  if (event.kind == EgressKind::connected) connections += event.count;
  if (event.kind == EgressKind::closed) {
    sent += event.sent;
    received += event.received;
  }
  if (is_refusal(event)) {
    refused[name_of(event.reason)] += event.count;
  }
}

}  // namespace cellblock::gateway
