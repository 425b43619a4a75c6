#include "supervisor/gateway/aggregate/response_rewrite.h"

#include "supervisor/gateway/aggregate/json_text.h"
#include "supervisor/gateway/aggregate/result_uris.h"
#include "supervisor/gateway/aggregate/task_names.h"
#include "supervisor/gateway/message/question.h"

namespace cellblock::gateway {
namespace {

/// False: nothing to name in there, or it is named already.
bool name_in(Json& request, std::string_view name) {
  Json* params = member(request, "params");
  if (params == nullptr) return false;
  const std::string before = string_in(*params, "message");
  name_the_asker(string_in(request, "method"), *params, name);
  return string_in(*params, "message") != before;
}

}  // namespace

std::vector<Replacement> show_answer(std::string_view line, const Message& message,
                                     std::uint32_t server, std::string_view name,
                                     ResourceRoutes& routes) {
  std::vector<Replacement> edits = show_task_ids(line, message, name);
  ResourceRoutes::Effort effort;
  for (const Span span : result_uris(line, message.result)) {
    const std::string uri = text_from(span.in(line));
    const std::string shown = routes.mention(server, uri, effort);
    if (shown != uri) edits.push_back({span, json_string(shown)});
  }
  return edits;
}

std::optional<std::string> name_asker(std::string_view text, std::string_view name) {
  Json json = parse_json(text);
  Json* result = member(json, "result");
  Json* requests = result == nullptr ? nullptr : member(*result, "inputRequests");
  if (requests == nullptr || !requests->is_object()) return std::nullopt;
  bool any = false;
  for (Json& request : *requests) any |= name_in(request, name);
  return any ? std::optional(text_of(json)) : std::nullopt;
}

std::string name_logger(std::string_view line, std::string_view name) {
  Json json = parse_json(line);
  // Made where there are none: null would be no params, and its reader would drop the message.
  Json& params = object_at(json, "params");
  const std::string logger = string_in(params, "logger");
  params["logger"] = std::string(name) + (logger.empty() ? "" : ": " + logger);
  return text_of(json);
}

}  // namespace cellblock::gateway
