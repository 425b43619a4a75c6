#include "supervisor/gateway/route/cached_answers.h"

#include <utility>

#include "policy/mcp/lists.h"
#include "policy/mcp/meta_keys.h"
#include "supervisor/gateway/checks/list_access.h"
#include "supervisor/gateway/message/replies.h"
#include "supervisor/gateway/translate/modern_results.h"

namespace cellblock::gateway {

namespace {

Json permitted(Json items, ListKind list, const Rights& rights) {
  if (!items.is_array()) return Json::array();
  const AccessKind kind = access_kind(list);
  if (rights.shows_all(kind)) return items;
  Json kept = Json::array();
  for (Json& item : items) {
    if (rights.shows(kind, string_in(item, mcp::facts_of(list).identity)))
      kept.push_back(std::move(item));
  }
  return kept;
}

// As with_reading_tool() does it.
void add_reading_tool(Json& tools) {
  Json kept = Json::array();
  for (Json& tool : tools) {
    if (string_in(tool, "name") != reading_tool_name) kept.push_back(std::move(tool));
  }
  kept.push_back(parse_json(reading_tool()));
  tools = std::move(kept);
}

}  // namespace

std::string discover_reply(std::string_view id, const Catalogue& catalogue) {
  return result_text(
      id, discover_result(parse_json(catalogue.capabilities), parse_json(catalogue.server_info),
                          catalogue.instructions));
}

std::optional<std::string> cached_list(std::string_view line, const Message& message,
                                       const Catalogue& catalogue, const Server& server,
                                       const Rights& rights, ReadingTool reading_tool) {
  const auto kind = mcp::listed_kind(message.method);
  if (!kind || !message.cursor.empty()) return std::nullopt;
  Json items = permitted(parse_json(catalogue.list(*kind)), *kind, rights);
  if (*kind == ListKind::tools && reading_tool == ReadingTool::listed) add_reading_tool(items);
  Json result = Json::object();
  result[mcp::facts_of(*kind).items] = std::move(items);
  result["_meta"][mcp::meta_key::cached]["found_at_ms"] = catalogue.found_at_ms;
  std::string reply = result_text(
      message.id.in(line),
      modern_result(message.method, std::move(result), parse_json(catalogue.server_info)));
  if (reply.size() > server.lines.to_host) return std::nullopt;
  return reply;
}

}  // namespace cellblock::gateway
