#include "client/cli/install/registry_rules.h"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "client/cli/terminal/terminal_text.h"
#include "policy/egress/egress_rule.h"
#include "policy/egress/special_addresses.h"

namespace cellblock::cli {
namespace {

constexpr std::size_t most_addresses = 8;

struct Endpoint {
  std::string host;
  std::string port;
};

Result<Endpoint> endpoint_in(const std::string& url) {
  const auto scheme = url.find("://");
  const bool is_plain = url.starts_with("http://");
  if (scheme == std::string::npos || (!is_plain && !url.starts_with("https://"))) {
    return fail(fmt::format("\"{}\" is no address of a registry", safe_line(url)));
  }
  auto host = url.substr(scheme + 3);
  host = host.substr(0, host.find_first_of("/?#"));
  if (const auto name = host.rfind('@'); name != std::string::npos) {
    return fail(fmt::format(
        "a user's name or password stands in the configured address of {}: a cell is not shown it;"
        " allowed: an address without one",
        safe_line(host.substr(name + 1))));
  }
  const auto colon = host.find(':', host.starts_with('[') ? host.find(']') : 0);
  Endpoint found{.host = host.substr(0, colon), .port = is_plain ? "80" : "443"};
  if (colon != std::string::npos) found.port = host.substr(colon + 1);
  if (found.host.empty() || found.port.empty()) {
    return fail(fmt::format("\"{}\" names no host", safe_line(url)));
  }
  return found;
}

std::vector<std::string> addresses_of(const Endpoint& endpoint) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  std::vector<std::string> addresses;
  if (::getaddrinfo(endpoint.host.c_str(), nullptr, &hints, &found) != 0) return addresses;
  for (const auto* one = found; one != nullptr && addresses.size() < most_addresses;
       one = one->ai_next) {
    std::array<char, NI_MAXHOST> text{};
    const int error = ::getnameinfo(one->ai_addr, one->ai_addrlen, text.data(), text.size(),
                                    nullptr, 0, NI_NUMERICHOST);
    const bool is_wide = one->ai_family == AF_INET6;
    if (error == 0) {
      addresses.push_back(fmt::format("{}{}{}:{}", is_wide ? "[" : "", text.data(),
                                      is_wide ? "]" : "", endpoint.port));
    }
  }
  ::freeaddrinfo(found);
  return addresses;
}

void add_rule(const std::string& rule, std::vector<std::string>& rules) {
  if (!rule.empty() && std::ranges::find(rules, rule) == rules.end()) rules.push_back(rule);
}

// What a name leads to is open by the name, unless it is no public address.
std::string rule_for_special(const std::string& address) {
  const auto rule = parse_egress_rule(address);
  const bool is_meant = rule && rule->target == EgressTarget::range &&
                        !special_kind(rule->address).empty() &&
                        declaration_problem(*rule, address).empty();
  return is_meant ? text_of(*rule) : std::string();
}

std::vector<std::string> rules_of(const Endpoint& endpoint) {
  std::vector<std::string> rules;
  add_rule(propose_egress_rule(endpoint.host + ":" + endpoint.port).rule, rules);
  for (const auto& address : addresses_of(endpoint)) add_rule(rule_for_special(address), rules);
  return rules;
}

bool is_private(const std::string& text) {
  const auto rule = parse_egress_rule(text);
  return rule && rule->target == EgressTarget::range && !special_kind(rule->address).empty();
}

bool covers(const std::string& named, const EgressRule& wanted) {
  const auto rule = parse_egress_rule(named);
  return rule && rule->target == EgressTarget::range && rule->port == wanted.port &&
         contains({rule->address, rule->prefix}, {wanted.address, wanted.prefix});
}

// "localhost" is nothing that a stranger could lead elsewhere.
bool is_written_as_address(const Endpoint& endpoint) {
  const auto rule = parse_egress_rule(endpoint.host + ":" + endpoint.port);
  return endpoint.host == "localhost" || (rule && rule->target == EgressTarget::range);
}

bool is_meant(const std::string& text, const std::vector<std::string>& named) {
  const auto rule = parse_egress_rule(text);
  return rule &&
         std::ranges::any_of(named, [&](const std::string& range) { return covers(range, *rule); });
}

}  // namespace

Result<void> add_registry_rules(const std::string& url, std::vector<std::string>& rules) {
  return add_named_registry_rules(url, {.any = true}, rules);
}

Result<void> add_named_registry_rules(const std::string& url, const PrivateAddresses& meant,
                                      std::vector<std::string>& rules) {
  const auto endpoint = CELLBLOCK_TRY(endpoint_in(url));
  const bool is_numeric = is_written_as_address(endpoint);
  const auto& named = is_numeric ? meant.named.for_addresses : meant.named.for_names;
  const auto own = rules_of(endpoint);
  if (own.empty()) return fail(fmt::format("a cell cannot be let to {}", safe_line(url)));
  for (const auto& rule : own) {
    if (is_private(rule) && !meant.any && !is_meant(rule, named)) {
      return fail(fmt::format(
          "{} leads to an address that is not public: --egress {}{} says that this is meant",
          safe_line(url), is_numeric ? "" : "SERVER=", rule));
    }
    add_rule(rule, rules);
  }
  return {};
}

std::vector<std::string> private_rules(const std::vector<std::string>& rules) {
  std::vector<std::string> found;
  std::ranges::copy_if(rules, std::back_inserter(found), is_private);
  return found;
}

}  // namespace cellblock::cli
