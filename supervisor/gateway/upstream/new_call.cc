#include "supervisor/gateway/upstream/new_call.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "policy/mcp/lists.h"
#include "policy/mcp/trace_context.h"
#include "supervisor/gateway/message/era_of.h"
#include "supervisor/gateway/message/tree_reader.h"

namespace cellblock::gateway {

namespace {

std::string named_in(std::string_view line, const Message& message, CallKind kind) {
  if (kind == CallKind::resource_read) return read_string(message.uri.in(line));
  return kind == CallKind::prompt_get ? message.name_text : std::string();
}

bool is_of_list(const std::string& wanted) {
  return std::ranges::any_of(
      mcp::list_changes, [&](const mcp::ListChange& change) { return wanted == change.wanted; });
}

// What is not known here may be anything.
bool is_more(const std::string& key, const nlohmann::ordered_json& wanted) {
  if (is_of_list(key)) return false;
  return !wanted.empty() && wanted != nlohmann::ordered_json(false);
}

void note_wishes(std::string_view line, const Message& message, Call& call) {
  const auto params = read_tree(message.params.in(line));
  const auto wanted = params.is_object() ? params.find("notifications") : params.end();
  if (wanted == params.end() || !wanted->is_object()) return;
  unsigned bits = 0;
  for (std::size_t i = 0; i < mcp::list_changes.size(); ++i) {
    const auto found = wanted->find(mcp::list_changes.at(i).wanted);
    if (found != wanted->end() && found->is_boolean() && found->get<bool>()) bits |= 1U << i;
  }
  call.wanted_changes = static_cast<std::uint8_t>(bits);
  for (const auto& [key, wish] : wanted->items()) call.wants_more |= is_more(key, wish);
}

}  // namespace

Call call_of(std::string_view line, const Message& message, std::uint64_t ours, Time now) {
  const CallKind kind = kind_of(message.method);
  Call call{.ours = ours,
            .theirs = std::string(message.id.in(line)),
            .progress_token = std::string(message.meta_progress_token.in(line)),
            .traceparent = std::string(traceparent_in(message.traceparent.in(line))),
            .tool = kind == CallKind::tool_call ? message.name_text : std::string{},
            .named = named_in(line, message, kind),
            .kind = kind,
            .era = era_of(message),
            .began = now,
            .has_cursor = !message.cursor.empty()};
  if (kind == CallKind::listen) note_wishes(line, message, call);
  return call;
}

}  // namespace cellblock::gateway
