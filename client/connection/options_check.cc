#include "client/connection/options_check.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "client/connection/host_permissions.h"
#include "client/connection/rpc_text.h"
#include "policy/access/name_pattern.h"
#include "policy/base/printable.h"
#include "policy/base/result.h"
#include "policy/config/names.h"
#include "policy/mcp/methods.h"

namespace cellblock::client {
namespace {

constexpr std::size_t least_line = 1024;
constexpr std::size_t longest_method = 128;

std::unexpected<Error> wrong(std::string text) {
  return std::unexpected(Error{.code = ErrorCode::invalid_argument, .text = std::move(text)});
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto length = first_code_point(text).length;
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

bool is_known(Verdict verdict) { return verdict <= Verdict::deny; }

Result<void> check_method_name(std::string_view text) {
  const bool is_prefix = text.ends_with('*');
  const auto name = text.substr(0, text.size() - (is_prefix ? 1 : 0));
  if ((name.empty() && !is_prefix) || name.size() > longest_method || printable(name) != name ||
      name.find('*') != std::string_view::npos) {
    return wrong(
        fmt::format("\"{}\" is no method; allowed: at most 128 printable bytes, with or without "
                    "one * at the end",
                    printable(text)));
  }
  if (is_prefix) return {};
  if (kind_of(name) != CallKind::other) {
    return wrong(
        fmt::format("\"{}\" is decided by rules of another kind, which name the tool, the "
                    "prompt or the resource",
                    name));
  }
  if (needs_permission(name)) return {};
  return wrong(fmt::format("\"{}\" is sent without asking any rule", name));
}

Result<void> check_name(CallKind kind, std::string_view name) {
  if (kind == CallKind::other) return check_method_name(name);
  const auto as = kind == CallKind::tool       ? NameKind::tool
                  : kind == CallKind::resource ? NameKind::resource
                                               : NameKind::prompt;
  if (const auto read = read_name_pattern(as, name); !read) {
    return wrong(printable(read.error().text));
  }
  return {};
}

Result<void> check_rule(const PermissionRule& rule) {
  if (!is_known(rule.verdict)) return wrong("its verdict is none of allow, ask, deny");
  if (rule.kind > CallKind::other)
    return wrong("its kind is none of tool, resource, prompt, other");
  if (!rule.server.empty() && !is_short_name(rule.server)) {
    return wrong(fmt::format("\"{}\" is no server name; allowed: [a-z][a-z0-9-]{{0,62}}",
                             printable(rule.server)));
  }
  return check_name(rule.kind, rule.name);
}

Result<void> check_rules(const PermissionRules& permission) {
  if (!is_known(permission.otherwise)) {
    return wrong("permission.otherwise is none of allow, ask, deny");
  }
  for (std::size_t i = 0; i < permission.rules.size(); ++i) {
    if (auto checked = check_rule(permission.rules[i]); !checked) {
      return wrong(fmt::format("permission.rules[{}]: {}", i, checked.error().text));
    }
  }
  return {};
}

Result<void> at_least(std::string_view name, std::size_t value, std::size_t least) {
  if (value >= least) return {};
  return wrong(fmt::format("limits.{} is {}; allowed: at least {}", name, value, least));
}

Result<void> check_limits(const Limits& limits) {
  CELLBLOCK_CHECK(at_least("incoming_line", limits.incoming_line, least_line));
  CELLBLOCK_CHECK(at_least("outgoing_line", limits.outgoing_line, least_line));
  CELLBLOCK_CHECK(at_least("outgoing_queue", limits.outgoing_queue, least_line));
  CELLBLOCK_CHECK(at_least("calls_in_flight", limits.calls_in_flight, 1));
  CELLBLOCK_CHECK(at_least("list_pages", limits.list_pages, 1));
  return at_least("list_items", limits.list_items, 1);
}

Result<void> check_text(std::string_view name, const std::string& text) {
  return is_utf8(text) ? Result<void>() : wrong(fmt::format("{} is no UTF-8", name));
}

Result<void> check_duration(std::string_view name, std::chrono::milliseconds time,
                            std::chrono::milliseconds least) {
  if (time >= least) return {};
  return wrong(fmt::format("{} is {} ms; allowed: at least {}", name, time.count(), least.count()));
}

}  // namespace

Result<void> check_options(const Options& options) {
  if (options.socket.find('\0') != std::string::npos) return wrong("socket has a NUL inside");
  CELLBLOCK_CHECK(check_text("client_name", options.client_name));
  CELLBLOCK_CHECK(check_text("client_version", options.client_version));
  if (const auto object = one_line_object(options.capabilities); !object) {
    return wrong("capabilities is no JSON object");
  }
  CELLBLOCK_CHECK(check_limits(options.limits));
  CELLBLOCK_CHECK(
      check_duration("approval_timeout", options.approval_timeout, std::chrono::milliseconds(1)));
  if (options.on_request && options.on_server_request) {
    return wrong(
        "on_request and on_server_request answer the same questions; allowed: one of them");
  }
  return check_rules(options.permission);
}

Result<void> check_reconnect(const ReconnectOptions& options) {
  using std::chrono::milliseconds;
  if (options.attempts == 0) return wrong("attempts is 0; allowed: at least 1");
  CELLBLOCK_CHECK(check_duration("first_wait", options.first_wait, milliseconds(0)));
  CELLBLOCK_CHECK(check_duration("longest_wait", options.longest_wait, milliseconds(0)));
  return check_duration("attach_timeout", options.attach_timeout, milliseconds(1));
}

}  // namespace cellblock::client
