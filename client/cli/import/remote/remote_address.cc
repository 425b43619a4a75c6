#include "client/cli/import/remote/remote_address.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "client/cli/import/read/secret_guess.h"
#include "client/cli/terminal/terminal_text.h"
#include "policy/egress/egress_rule.h"
#include "policy/egress/special_addresses.h"

namespace cellblock::cli {
namespace {

constexpr std::size_t longest_address = 2048;
constexpr std::string_view plain_scheme = "http://";
constexpr std::string_view encrypted_scheme = "https://";

struct AddressParts {
  std::string host;
  std::string port;  ///< empty: the scheme's
  std::string path;  ///< with the query
};

bool is_of_addresses(char byte) {
  return std::isalnum(static_cast<unsigned char>(byte)) != 0 ||
         std::string_view("-._~:/?[]@!$&'()*+,;=%").find(byte) != std::string_view::npos;
}

AddressParts parts_of(const std::string& rest) {
  const auto slash = std::min(rest.find_first_of("/?"), rest.size());
  const auto authority = rest.substr(0, slash);
  const auto bracket = authority.starts_with('[') ? authority.find(']') : 0;
  const auto colon = authority.find(':', std::min(bracket, authority.size()));
  AddressParts parts{.host = authority.substr(0, colon), .port = {}, .path = rest.substr(slash)};
  if (colon != std::string::npos) parts.port = authority.substr(colon + 1);
  std::ranges::transform(parts.host, parts.host.begin(),
                         [](unsigned char byte) { return static_cast<char>(std::tolower(byte)); });
  return parts;
}

// A key in an address: each part of its path, each value of its query, and what is called so.
bool holds_secret(const std::string& path) {
  std::string text = path;
  std::ranges::replace_if(text, [](char byte) { return byte == '?' || byte == '&'; }, '/');
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, '/');) {
    const auto equals = part.find('=');
    const auto value = equals == std::string::npos ? part : part.substr(equals + 1);
    const bool is_named = equals != std::string::npos && sounds_secret(part.substr(0, equals));
    if (!value.empty() && (is_named || looks_secret(value))) return true;
  }
  return false;
}

std::string host_in_cell(const std::string& host) {
  const bool is_local = host == "localhost" || host.ends_with(".localhost");
  return is_local ? "127.0.0.1" : host;
}

bool is_special_range(const EgressRule& rule) {
  return rule.target == EgressTarget::range && !special_kind(rule.address).empty();
}

bool allows(const std::string& granted, const EgressRule& wanted) {
  const auto rule = parse_egress_rule(granted);
  if (!rule || rule->target != EgressTarget::range || rule->port != wanted.port) return false;
  return contains({rule->address, rule->prefix}, {wanted.address, wanted.prefix});
}

// What a name may lead to: ranges of this machine and of private networks, with its port.
std::vector<std::string> private_ranges(const std::vector<std::string>& granted,
                                        std::uint16_t port) {
  std::vector<std::string> ranges;
  std::ranges::copy_if(granted, std::back_inserter(ranges), [port](const auto& text) {
    const auto rule = parse_egress_rule(text);
    return rule && rule->port == port && is_special_range(*rule);
  });
  return ranges;
}

std::unexpected<Error> not_encrypted(const std::string& rule, std::string_view remedy) {
  return fail(
      fmt::format("http is not encrypted, and whoever is on the way could read its token; allowed: "
                  "https, and http to this machine or a private network ({}{})",
                  remedy, rule.substr(rule.rfind(':'))));
}

Result<std::vector<std::string>> rules_for_range(const RemoteAddress& address,
                                                 const EgressRule& wanted,
                                                 const NamedRanges& named) {
  const auto kind = special_kind(wanted.address);
  const bool is_granted = std::ranges::any_of(
      named.for_addresses, [&](const std::string& one) { return allows(one, wanted); });
  if (!kind.empty() && !is_granted) {
    return fail(
        fmt::format("its address is {}: --egress {} says that this is meant", kind, address.rule));
  }
  if (kind.empty() && address.is_plain) return not_encrypted(address.rule, "--egress 10.0.0.0/8");
  return std::vector<std::string>{address.rule};
}

Result<std::vector<std::string>> rules_for_name(const RemoteAddress& address,
                                                const EgressRule& wanted,
                                                const NamedRanges& named) {
  std::vector<std::string> rules{address.rule};
  const auto ranges = private_ranges(named.for_names, wanted.port);
  if (address.is_plain && ranges.empty()) {
    return not_encrypted(address.rule,
                         "for a name the range to which it leads: --egress RANGE, for a server of "
                         "a file --egress SERVER=RANGE, as 10.0.0.0/8");
  }
  rules.insert(rules.end(), ranges.begin(), ranges.end());
  return rules;
}

}  // namespace

bool is_address(std::string_view word) {
  return word.starts_with(plain_scheme) || word.starts_with(encrypted_scheme);
}

Result<RemoteAddress> remote_address(const std::string& url) {
  if (!is_address(url)) return fail("its address is neither https:// nor http://");
  if (url.size() > longest_address || !std::ranges::all_of(url, is_of_addresses)) {
    return fail("its address is longer than 2048 bytes, or has characters that none has");
  }
  if (is_placeholder(url)) return fail("its address was left to the host to fill in");
  const bool is_plain = url.starts_with(plain_scheme);
  const auto scheme = is_plain ? plain_scheme : encrypted_scheme;
  const auto parts = parts_of(url.substr(scheme.size()));
  if (parts.host.find('@') != std::string::npos || parts.port.find('@') != std::string::npos) {
    return fail("a user's name or password stands in its address; allowed: a header");
  }
  if (holds_secret(parts.path)) {
    return fail(
        "something in its address looks like a secret, which every user of this machine would see "
        "in a command line; allowed: a header, if the server takes it there");
  }
  RemoteAddress address{.host = host_in_cell(parts.host), .is_plain = is_plain};
  const auto port = !parts.port.empty() ? parts.port : is_plain ? "80" : "443";
  const auto rule = CELLBLOCK_TRY(parse_egress_rule(address.host + ":" + port));
  const auto problem = declaration_problem(rule, address.host);
  if (!problem.empty()) return fail(problem);
  address.rule = text_of(rule);
  const auto shown_port = parts.port.empty() ? std::string() : ":" + parts.port;
  address.url = fmt::format("{}{}{}{}", scheme, address.host, shown_port, parts.path);
  return address;
}

std::string private_range(const RemoteAddress& address) {
  const auto rule = parse_egress_rule(address.rule);
  if (!rule || !is_special_range(*rule)) return {};
  return propose_egress_rule(address.rule).rule;
}

Result<std::vector<std::string>> rules_for(const RemoteAddress& address, const NamedRanges& named) {
  const auto wanted = CELLBLOCK_TRY(parse_egress_rule(address.rule));
  return wanted.target == EgressTarget::range ? rules_for_range(address, wanted, named)
                                              : rules_for_name(address, wanted, named);
}

}  // namespace cellblock::cli
