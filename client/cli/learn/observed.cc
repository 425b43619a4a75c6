#include "client/cli/learn/observed.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <system_error>

namespace cellblock::cli {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t longest_searched_line = 8192;
constexpr std::size_t most_ports = 4;

// As Node, Python, Go and Rust say it.
constexpr std::array connection_failures{"eacces"sv, "econnrefused"sv, "connection refused"sv,
                                         "permission denied"sv, "unreachable"sv};
constexpr std::array loopback_names{"127.0.0.1:"sv, "localhost:"sv, "[::1]:"sv, "::1:"sv};

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

bool tells_of_failure(std::string_view line) {
  return std::ranges::any_of(connection_failures,
                             [line](std::string_view word) { return line.contains(word); });
}

// Not the end of another address or name: "10.127.0.0.1", "fd00::1", "my-localhost".
bool begins_host(std::string_view line, std::size_t at) {
  constexpr std::string_view part_of_host = "abcdefghijklmnopqrstuvwxyz0123456789.:-_";
  return at == 0 || !part_of_host.contains(line[at - 1]);
}

std::optional<std::uint16_t> port_at(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || port == 0) return std::nullopt;
  return port;
}

void add_ports_after(std::string_view line, std::string_view name,
                     std::vector<std::uint16_t>& ports) {
  for (auto at = line.find(name); at != std::string_view::npos; at = line.find(name, at + 1)) {
    const auto port = port_at(line.substr(at + name.size()));
    if (!port || !begins_host(line, at) || ports.size() == most_ports) continue;
    if (std::ranges::find(ports, *port) == ports.end()) ports.push_back(*port);
  }
}

}  // namespace

std::vector<std::uint16_t> said_loopback_ports(std::string_view line) {
  const std::string searched = in_lower_case(line.substr(0, longest_searched_line));
  std::vector<std::uint16_t> ports;
  if (!tells_of_failure(searched)) return ports;
  for (const std::string_view name : loopback_names) add_ports_after(searched, name, ports);
  return ports;
}

namespace {

bool consists_of(std::string_view text, std::string_view more) {
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           more.find(c) != std::string_view::npos;
  });
}

/// What stands between the two; empty: they are not both there.
std::string between(std::string_view text, std::string_view before, std::string_view after) {
  const auto at = text.find(before);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + before.size());
  const auto end = text.find(after);
  return end == std::string_view::npos ? std::string() : std::string(text.substr(0, end));
}

std::string if_name(const std::string& name) {
  return consists_of(name, "-_") ? name : std::string();
}

bool has(const std::string& text, std::string_view words) {
  return text.find(words) != std::string::npos;
}

Remedy of_egress(std::string target, bool opens_network) {
  if (!consists_of(target, ".:_-[]/")) return {.kind = Remedy::Kind::other};
  return {.kind = Remedy::Kind::egress, .target = std::move(target), .network = opens_network};
}

// Who may trace reads and steers the server's other processes, its secrets included. Crash
// reporters and debuggers ask for it, after the cause.
bool is_never_advised(std::string_view call) { return call == "ptrace"; }

Remedy of_call(const std::string& what, const std::string& allow) {
  Remedy remedy{.kind = Remedy::Kind::system_call};
  remedy.call = if_name(what.substr(0, what.find('(')));
  if (is_never_advised(remedy.call)) return {.kind = Remedy::Kind::unadvised};
  remedy.base = if_name(between(allow, "base = \"", "\""));
  remedy.takes_back = has(allow, "] refuse");
  remedy.adds_call = has(allow, "allow = [\"" + remedy.call + "\"]");
  remedy.write_exec = has(allow, "write_exec = \"allowed\"");
  remedy.network = has(allow, "network = \"loopback\"");
  if (remedy.base.empty()) remedy.profile = if_name(between(allow, "[profile.", "]"));
  const bool in_profile = remedy.adds_call || remedy.takes_back;
  const bool has_place = !remedy.base.empty() || !remedy.profile.empty();
  const bool is_known = in_profile || remedy.write_exec || remedy.network;
  if (remedy.call.empty() || !is_known || in_profile != has_place) {
    return {.kind = Remedy::Kind::other};
  }
  return remedy;
}

}  // namespace

Remedy read_remedy(const std::string& what, const std::string& allow) {
  if (allow.empty()) return {};
  constexpr std::string_view opens_network = "network = \"egress\" and ";
  const bool opens = allow.starts_with(opens_network);
  const std::string_view rule = std::string_view(allow).substr(opens ? opens_network.size() : 0);
  if (rule.starts_with("egress.allow = [")) return of_egress(between(rule, "[\"", "\"]"), opens);
  return of_call(what, allow);
}

template <class Key>
void Observed::count(std::map<Key, Counts>& seen, std::size_t most, const Key& key,
                     Speaker speaker) {
  if (seen.size() < most || seen.contains(key)) {
    seen[key].at(static_cast<std::size_t>(speaker)) += 1;
  } else {
    left_out_ += 1;
  }
}

void Observed::said(Speaker speaker, std::string_view line) {
  for (SaidPath& said : said_paths(line)) {
    count(paths_, most_paths, std::pair{std::move(said.path), said.wish}, speaker);
  }
  for (const std::uint16_t port : said_loopback_ports(line)) {
    count(loopback_ports_, most_ports, port, speaker);
  }
}

void Observed::refused(const std::string& what, const std::string& allow, std::uint64_t count) {
  const bool has_room = operations_.size() < most_operations || operations_.contains(what);
  if (!has_room) {
    left_out_ += 1;
    return;
  }
  RefusedOperation& operation = operations_[what];
  operation.what = what;
  operation.allow = allow;
  operation.count += count;
  operation.remedy = read_remedy(what, allow);
}

std::vector<MissedPath> Observed::paths() const {
  std::vector<MissedPath> list;
  list.reserve(paths_.size());
  for (const auto& [key, counts] : paths_) {
    list.push_back({{key.first, key.second}, std::ranges::max(counts)});
  }
  return list;
}

std::vector<MissedPort> Observed::loopback_ports() const {
  std::vector<MissedPort> list;
  list.reserve(loopback_ports_.size());
  for (const auto& [port, counts] : loopback_ports_)
    list.push_back({port, std::ranges::max(counts)});
  return list;
}

std::vector<RefusedOperation> Observed::operations() const {
  std::vector<RefusedOperation> list;
  list.reserve(operations_.size());
  for (const auto& [what, operation] : operations_) list.push_back(operation);
  return list;
}

}  // namespace cellblock::cli
