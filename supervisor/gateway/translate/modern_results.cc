#include "supervisor/gateway/translate/modern_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "policy/mcp/methods.h"
#include "policy/mcp/protocol_words.h"
#include "supervisor/gateway/message/replies.h"
#include "supervisor/gateway/message/request_meta.h"
#include "supervisor/gateway/message/revisions.h"

namespace cellblock::gateway {

namespace {

constexpr std::size_t most_urls = 16;

constexpr std::array<std::string_view, 6> cacheable = {
    mcp::method::discover,       mcp::method::tools_list,   mcp::method::resources_list,
    mcp::method::templates_list, mcp::method::prompts_list, mcp::method::resources_read};

// A tool that only runs as a task of 2025-11-25 cannot be called through here: it is not shown.
void leave_out_task_tools(Json& result) {
  Json* tools = member(result, "tools");
  if (tools == nullptr || !tools->is_array()) return;
  Json kept = Json::array();
  for (Json& tool : *tools) {
    const Json* execution = object_in(tool, "execution");
    if (execution != nullptr && string_in(*execution, "taskSupport") == "required") continue;
    leave_out(tool, {"execution"});
    kept.push_back(std::move(tool));
  }
  *tools = std::move(kept);
}

}  // namespace

Json modern_result(std::string_view method, Json result, const Json& server_info) {
  if (!result.is_object()) result = Json::object();
  if (method == mcp::method::tools_list) leave_out_task_tools(result);
  leave_out(result, {"inputRequests", "requestState"});
  result["resultType"] = "complete";
  if (std::ranges::find(cacheable, method) != cacheable.end()) {
    // Stale at once: a legacy server says that a list has changed only to who listens.
    result["ttlMs"] = 0;
    result["cacheScope"] = "private";
  }
  strip_reserved_meta(result);
  object_at(result, "_meta")[mcp::meta_key::server] = server_info;
  return result;
}

Json discover_result(const Json& capabilities, const Json& server_info,
                     std::string_view instructions) {
  Json result{{"supportedVersions", Json::array({mcp::modern_revision})},
              {"capabilities", carried_server_capabilities(capabilities)}};
  if (!instructions.empty()) result["instructions"] = instructions;
  return modern_result(mcp::method::discover, std::move(result), server_info);
}

Json modern_error(std::string_view method, Json error, std::string_view uri) {
  const Json* code = member(error, "code");
  const auto number = code != nullptr && code->is_number_integer() ? code->get<std::int64_t>() : 0;
  if (method == mcp::method::resources_read && number == mcp::legacy_not_found) {
    error["code"] = mcp::invalid_params;
    object_at(error, "data")["uri"] = uri;
  } else if (number == mcp::legacy_not_found || number == mcp::url_elicitation_required ||
             (number >= mcp::first_reserved && number <= mcp::last_reserved)) {
    error["code"] = mcp::internal_error;
  }
  return error;
}

Json url_questions(const Json& error, std::string_view server) {
  Json questions = Json::object();
  const Json* data = object_in(error, "data");
  const Json* listed = data == nullptr ? nullptr : member(*data, "elicitations");
  if (listed == nullptr || !listed->is_array()) return questions;
  for (const Json& elicitation : *listed) {
    if (questions.size() == most_urls) break;
    if (string_in(elicitation, "url").empty()) continue;
    Json params = elicitation;
    params["mode"] = "url";
    questions[fmt::format("url-{}", questions.size() + 1)] =
        modern_question(mcp::method::elicitation_create, std::move(params), server);
  }
  return questions;
}

}  // namespace cellblock::gateway
