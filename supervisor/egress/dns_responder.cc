#include "supervisor/egress/dns_responder.h"

#include <algorithm>
#include <utility>

#include "policy/egress/egress_policy.h"

namespace cellblock::egress {
namespace {

// The first address of the range is no host's, the second is the resolver's.
constexpr std::uint32_t first_host = 2;

InternetAddress host_in(InternetAddress base, std::uint32_t number) {
  for (std::size_t i = base.size(); number != 0; number >>= 8) {
    base.at(--i) |= static_cast<std::uint8_t>(number);
  }
  return base;
}

std::uint32_t low_word(const InternetAddress& address) {
  std::uint32_t word = 0;
  for (std::size_t i = 12; i < 16; ++i) word = (word << 8) | address.at(i);
  return word;
}

}  // namespace

SyntheticPair NameTable::pair(std::uint32_t index) const {
  return {host_in(range_.ipv4, index + first_host), host_in(range_.ipv6, index + first_host)};
}

std::optional<SyntheticPair> NameTable::addresses_of(const std::string& name) {
  const auto known = indices_.find(name);
  if (known != indices_.end()) return pair(known->second);
  if (names_.size() >= max_names) return std::nullopt;
  const auto index = static_cast<std::uint32_t>(names_.size());
  names_.push_back(&indices_.emplace(name, index).first->first);
  return pair(index);
}

bool NameTable::is_synthetic(const InternetAddress& address) const { return range_.has(address); }

const std::string* NameTable::name_of(const InternetAddress& address) const {
  for (const InternetAddress& base : {range_.ipv4, range_.ipv6}) {
    const std::uint32_t index = low_word(address) - low_word(base) - first_host;
    if (index < names_.size() && host_in(base, index + first_host) == address) {
      return names_[index];
    }
  }
  return nullptr;
}

wire::EgressEvent event_about(wire::EgressKind kind, wire::EgressReason reason,
                              std::string_view host, std::uint16_t port) {
  wire::EgressEvent event{.kind = kind, .reason = reason, .port = port};
  const std::size_t length = std::min<std::size_t>(host.size(), event.host.size());
  std::copy_n(host.begin(), length, event.host.begin());
  event.host_length = static_cast<std::uint8_t>(length);
  return event;
}

DnsResponder::DnsResponder(const Egress& rules, NameTable& names, TellEvent tell)
    : rules_(rules), names_(names), tell_(std::move(tell)) {}

DnsAction DnsResponder::read(std::string_view message) {
  using wire::EgressKind;
  using wire::EgressReason;
  auto question = parse_question(message);
  if (!question) {
    tell_(event_about(EgressKind::name_refused, EgressReason::malformed));
    if (!question.error().code) return {};
    return {.kind = DnsActionKind::reply, .reply = dns_reply(question.error()), .question = {}};
  }
  const std::string& name = question->name ? *question->name : std::string();
  if (name.empty() || !may_look_up(rules_, name)) {
    tell_(event_about(EgressKind::name_refused, EgressReason::not_allowed, name));
    return {.kind = DnsActionKind::reply,
            .reply = dns_reply(*question, DnsCode::name_error),
            .question = {}};
  }
  if (question->type != type_a && question->type != type_aaaa) {
    return {.kind = DnsActionKind::reply,
            .reply = dns_reply(*question, DnsCode::no_error),
            .question = {}};
  }
  return {.kind = DnsActionKind::look_up, .reply = {}, .question = *std::move(question)};
}

std::string DnsResponder::answer(const DnsQuestion& question, const LookupResult& found) {
  using wire::EgressReason;
  switch (found.status) {
    case LookupStatus::found:
      break;
    case LookupStatus::no_such_name:
      return give_up(question, DnsCode::name_error, EgressReason::not_resolved);
    case LookupStatus::no_address:
      return dns_reply(question, DnsCode::no_error);
    case LookupStatus::failed:
      return give_up(question, DnsCode::server_failure, EgressReason::not_resolved);
  }
  const bool may_be_dialled = std::ranges::any_of(
      found.addresses, [&](const auto& address) { return may_dial_on_some_port(rules_, address); });
  if (!may_be_dialled) {
    return give_up(question, DnsCode::name_error, EgressReason::private_address);
  }
  return answer_with_address(question);
}

std::string DnsResponder::decline(const DnsQuestion& question, wire::EgressReason reason) {
  // Without the name: it is one of many, and was chosen to be.
  tell_(event_about(wire::EgressKind::name_refused, reason));
  return dns_reply(question, DnsCode::server_failure);
}

// Both kinds of address for each name, whatever it really has: the connection comes to us, and we
// choose what to dial.
std::string DnsResponder::answer_with_address(const DnsQuestion& question) {
  const auto pair = names_.addresses_of(*question.name);
  if (!pair) {
    return give_up(question, DnsCode::server_failure, wire::EgressReason::too_many_names);
  }
  return dns_reply(question, DnsCode::no_error, question.type == type_a ? pair->ipv4 : pair->ipv6);
}

std::string DnsResponder::give_up(const DnsQuestion& question, DnsCode code,
                                  wire::EgressReason reason) {
  tell_(event_about(wire::EgressKind::connect_refused, reason, *question.name));
  return dns_reply(question, code);
}

}  // namespace cellblock::egress
