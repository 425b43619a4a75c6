#include "policy/egress/egress_policy.h"

#include <algorithm>
#include <cstddef>

namespace cellblock {
namespace {

constexpr std::size_t longest_name = 253;
constexpr std::size_t longest_label = 63;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_char(char c) { return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-' || c == '_'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_label(std::string_view label) {
  return !label.empty() && label.size() <= longest_label && label.front() != '-' &&
         label.back() != '-' && std::ranges::all_of(label, is_name_char);
}

bool is_number(std::string_view label) {
  if (label.starts_with("0x")) {
    return std::ranges::all_of(label.substr(2),
                               [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
  }
  return std::ranges::all_of(label, is_digit);
}

bool are_labels(std::string_view name) {
  for (std::size_t dot = name.find('.'); dot != name.npos; dot = name.find('.')) {
    if (!is_label(name.substr(0, dot))) return false;
    name.remove_prefix(dot + 1);
  }
  return is_label(name) && !is_number(name);
}

bool names(const EgressRule& rule, std::string_view host) {
  switch (rule.target) {
    case EgressTarget::name:
      return host == rule.host;
    case EgressTarget::suffix:
      return host.size() > rule.host.size() + 1 && host.ends_with(rule.host) &&
             host[host.size() - rule.host.size() - 1] == '.';
    case EgressTarget::range:
      break;
  }
  return false;
}

constexpr std::uint8_t one_address = 128;

bool has_address(const EgressRule& rule, const InternetAddress& address) {
  return rule.target == EgressTarget::range && is_in_range(address, {rule.address, rule.prefix});
}

}  // namespace

std::optional<std::string> normal_host_name(std::string_view text) {
  if (text.ends_with('.')) text.remove_suffix(1);
  if (text.size() > longest_name) return std::nullopt;
  std::string name(text);
  std::ranges::transform(name, name.begin(), lower);
  if (!are_labels(name)) return std::nullopt;
  return name;
}

bool may_look_up(const Egress& egress, std::string_view host) {
  return std::ranges::any_of(egress.allow,
                             [&](const EgressRule& rule) { return names(rule, host); });
}

bool may_connect_to_name(const Egress& egress, std::string_view host, std::uint16_t port) {
  return std::ranges::any_of(
      egress.allow, [&](const EgressRule& rule) { return rule.port == port && names(rule, host); });
}

bool may_connect_to_address(const Egress& egress, const InternetAddress& address,
                            std::uint16_t port) {
  return std::ranges::any_of(egress.allow, [&](const EgressRule& rule) {
    return rule.port == port && has_address(rule, address);
  });
}

bool is_named_exactly(const Egress& egress, std::string_view host, const InternetAddress& address,
                      std::uint16_t port) {
  return std::ranges::any_of(egress.allow, [&](const EgressRule& rule) {
    if (rule.port != port) return false;
    if (!host.empty()) return rule.target == EgressTarget::name && rule.host == host;
    return rule.prefix == one_address && has_address(rule, address);
  });
}

bool may_dial(const Egress& egress, const InternetAddress& address, std::uint16_t port) {
  return !is_special(address) || may_connect_to_address(egress, address, port);
}

bool may_dial_on_some_port(const Egress& egress, const InternetAddress& address) {
  return !is_special(address) || std::ranges::any_of(egress.allow, [&](const EgressRule& rule) {
    return has_address(rule, address);
  });
}

}  // namespace cellblock
