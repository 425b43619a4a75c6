#include "supervisor/gateway/aggregate/shown_answer.h"

#include "supervisor/gateway/aggregate/json_text.h"
#include "supervisor/gateway/aggregate/result_uris.h"
#include "supervisor/gateway/aggregate/task_names.h"

namespace cellblock::gateway {
namespace {

/// False: nothing to name in there.
bool name_in(Json& request, const std::string& prefix) {
  if (string_member(request, "method") != "elicitation/create") return false;
  Json* params = member(request, "params");
  if (params == nullptr) return false;
  const std::string text = string_member(*params, "message");
  if (!params->is_object() || text.starts_with(prefix)) return false;
  (*params)["message"] = prefix + text;
  return true;
}

}  // namespace

std::vector<Replacement> show_answer(std::string_view line, const Message& message,
                                     std::uint32_t server, std::string_view name,
                                     ResourceRoutes& routes) {
  std::vector<Replacement> edits = show_task_ids(line, message, name);
  for (const Span span : result_uris(line, message.result)) {
    const std::string uri = string_in(span.in(line));
    const std::string shown = routes.mention(server, uri);
    if (shown != uri) edits.push_back({span, json_string(shown)});
  }
  return edits;
}

std::optional<std::string> name_asker(std::string_view text, std::string_view name) {
  Json json = parsed(text);
  Json* result = member(json, "result");
  Json* requests = result == nullptr ? nullptr : member(*result, "inputRequests");
  if (requests == nullptr || !requests->is_object()) return std::nullopt;
  const std::string prefix = "[server " + std::string(name) + "] ";
  bool any = false;
  for (Json& request : *requests) any |= name_in(request, prefix);
  return any ? std::optional(text_of(json)) : std::nullopt;
}

std::string name_logger(std::string_view line, std::string_view name) {
  Json json = parsed(line);
  Json& params = json["params"];
  const std::string logger = string_member(params, "logger");
  if (params.is_object()) {
    params["logger"] = std::string(name) + (logger.empty() ? "" : ": " + logger);
  }
  return text_of(json);
}

}  // namespace cellblock::gateway
