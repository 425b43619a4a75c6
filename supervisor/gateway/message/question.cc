#include "supervisor/gateway/message/question.h"

#include <fmt/format.h>

#include <utility>

#include "policy/mcp/methods.h"
#include "supervisor/gateway/message/reserved_meta.h"

namespace cellblock::gateway {

void name_the_asker(std::string_view method, Json& params, std::string_view server) {
  if (server.empty() || method != mcp::method::elicitation_create || !params.is_object()) return;
  const std::string prefix = fmt::format("[server {}] ", server);
  const std::string message = string_in(params, "message");
  if (!message.starts_with(prefix)) params["message"] = prefix + message;
}

Json modern_question(std::string_view method, Json params, std::string_view server) {
  // The progress token in _meta would have no request to belong to.
  leave_out(params, {"_meta", "elicitationId", "task"});
  name_the_asker(method, params, server);
  Json question{{"method", method}};
  if (params.is_object()) question["params"] = std::move(params);
  return question;
}

Json legacy_question(std::string_view method, Json params, std::string_view server,
                     std::string_view elicitation_id) {
  strip_reserved_meta(params);
  name_the_asker(method, params, server);
  if (string_in(params, "mode") == "url") params["elicitationId"] = elicitation_id;
  return params;
}

}  // namespace cellblock::gateway
