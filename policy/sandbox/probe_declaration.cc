#include "policy/sandbox/probe_declaration.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "policy/base/internet_address.h"
#include "policy/config/names.h"

namespace cellblock {
namespace {

// In the order of their enums.
constexpr std::array<std::string_view, 4> networks = {"none", "loopback", "egress", "host"};
constexpr std::array<std::string_view, 4> profiles = {"native", "node", "python", "browser"};
constexpr std::array<std::string_view, 2> write_execs = {"refused", "allowed"};
constexpr std::array<std::string_view, 2> answers = {"no", "yes"};

template <class Enum, std::size_t size>
std::string word(const std::array<std::string_view, size>& words, Enum value) {
  return std::string(words.at(static_cast<std::size_t>(value)));
}

template <class Enum, std::size_t size>
Result<void> read_word(const std::array<std::string_view, size>& words, std::string_view text,
                       Enum& value) {
  for (std::size_t i = 0; i < size; ++i) {
    if (words[i] != text) continue;
    value = static_cast<Enum>(i);
    return {};
  }
  return fail("no such word: " + std::string(text));
}

Result<void> read_number(std::string_view text, std::uint32_t& value) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec == std::errc{} && read.ptr == text.data() + text.size()) return {};
  return fail("no number: " + std::string(text));
}

Result<void> read_name(std::string_view text, std::string& name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  if (text.empty() || !std::ranges::all_of(text, fits)) {
    return fail("no name: " + std::string(text));
  }
  name = text;
  return {};
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

Result<void> read_names(std::string_view text, std::vector<std::string>& names) {
  names.clear();
  while (!text.empty()) {
    const std::string_view name = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), name.size() + 1));
    CELLBLOCK_CHECK(read_name(name, names.emplace_back()));
  }
  return {};
}

Result<void> read_entry(std::string_view name, std::string_view text, ProbeDeclaration& into) {
  if (name == "network") return read_word(networks, text, into.network);
  if (name == "profile") return read_word(profiles, text, into.profile);
  if (name == "write_exec") return read_word(write_execs, text, into.write_exec);
  if (name == "execute_writable") return read_word(answers, text, into.execute_writable);
  if (name == "file_limit") return read_word(answers, text, into.file_limit);
  if (name == "rules") return read_name(text, into.rules);
  if (name == "extra_calls") return read_names(text, into.extra_calls);
  if (name == "routes") return read_names(text, into.routes);
  if (name == "secret_memfds") return read_word(answers, text, into.secret_memfds);
  if (name == "landlock") return read_number(text, into.landlock_abi);
  return fail("no such declaration: " + std::string(name));
}

// Named ranges lead to the helper, which decides by port: a way is there whatever it answers.
bool names(const Egress& egress, const InternetAddress& address) {
  return std::ranges::any_of(egress.allow, [&](const EgressRule& rule) {
    return rule.target == EgressTarget::range && is_in_range(address, {rule.address, rule.prefix});
  });
}

std::vector<std::string> routes_of(const Server& server) {
  std::vector<std::string> routes;
  if (server.network != NetworkMode::egress) return routes;
  for (const RouteProbe& probe : {public_route, public_route_6, metadata_route, private_route}) {
    auto address = parse_ipv4(probe.address);
    if (!address) address = parse_ipv6(probe.address);
    if (address && names(server.egress, *address)) routes.emplace_back(probe.attempt);
  }
  return routes;
}

}  // namespace

ProbeDeclaration probe_declaration(const Server& server, const Kernel& kernel) {
  return {.network = server.network,
          .profile = server.syscalls.base,
          .write_exec = server.syscalls.write_exec,
          .execute_writable = server.execute_writable,
          .file_limit = server.limits.file_bytes.has_value(),
          .rules = std::string(profile_name(server.syscalls)),
          .extra_calls = server.syscalls.allow,
          .routes = routes_of(server),
          .secret_memfds = std::ranges::any_of(server.secrets,
                                               [](const SecretVariable& secret) {
                                                 return secret.delivery == SecretDelivery::memfd;
                                               }),
          .landlock_abi = kernel.landlock_abi};
}

std::string to_text(const ProbeDeclaration& declaration) {
  return "network=" + word(networks, declaration.network) +
         " profile=" + word(profiles, declaration.profile) +
         " write_exec=" + word(write_execs, declaration.write_exec) +
         " execute_writable=" + word(answers, declaration.execute_writable) +
         " file_limit=" + word(answers, declaration.file_limit) + " rules=" + declaration.rules +
         " extra_calls=" + joined(declaration.extra_calls) +
         " routes=" + joined(declaration.routes) +
         " secret_memfds=" + word(answers, declaration.secret_memfds) +
         " landlock=" + std::to_string(declaration.landlock_abi);
}

Result<ProbeDeclaration> read_probe_declaration(std::string_view text) {
  ProbeDeclaration declaration;
  while (!text.empty()) {
    const std::string_view entry = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), entry.size() + 1));
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos) return fail("no value: " + std::string(entry));
    CELLBLOCK_CHECK(read_entry(entry.substr(0, equals), entry.substr(equals + 1), declaration));
  }
  return declaration;
}

}  // namespace cellblock
