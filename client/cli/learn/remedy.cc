#include "client/cli/learn/remedy.h"

#include <algorithm>
#include <string_view>

namespace cellblock::cli {
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

}  // namespace cellblock::cli
