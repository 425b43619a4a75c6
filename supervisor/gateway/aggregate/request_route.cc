#include "supervisor/gateway/aggregate/request_route.h"

#include <utility>

#include "policy/access/rights.h"
#include "policy/mcp/methods.h"
#include "policy/mcp/protocol_words.h"
#include "supervisor/gateway/aggregate/public_name.h"
#include "supervisor/gateway/message/json_tree.h"
#include "supervisor/gateway/message/replies.h"
#include "supervisor/gateway/message/request_meta.h"
#include "supervisor/gateway/message/revisions.h"

namespace cellblock::gateway {

std::string meta_of(std::string_view line, const Message& message) {
  Json params = parse_json(message.params.in(line));
  Json* meta = member(params, "_meta");
  if (meta == nullptr) return bare_meta();
  leave_out(*meta, {"progressToken", mcp::meta_key::subscription});
  return text_of(*meta);
}

std::string bare_meta() {
  return text_of({{mcp::meta_key::version, mcp::modern_revision},
                  {mcp::meta_key::capabilities, Json::object()}});
}

namespace {

using Certainty = ResourceRoutes::Certainty;
using Target = MergedLists::Target;

std::string no_such_resource(std::string_view id, const std::string& uri) {
  const Json error = {{"code", mcp::invalid_params},
                      {"message", "Resource not found: " + uri},
                      {"data", {{"uri", uri}}}};
  return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"error":)" + text_of(error) + "}";
}

// One answer for what does not exist, what may not be called, and a server that may not be used.
ToNobody unknown_tool(std::string_view line, const Message& message, DeniedTool denied) {
  return {protocol_error(message.id.in(line), mcp::invalid_params,
                         "Unknown tool: " + message.name_text),
          std::move(denied)};
}

ToNobody unknown_prompt(std::string_view line, const Message& message) {
  return {protocol_error(message.id.in(line), mcp::invalid_params,
                         "Unknown prompt: " + message.name_text),
          std::nullopt};
}

/// Certain routes first; a guess only when no more lists come in that would know better.
std::optional<Target> find_resource(MergedLists& merged, const std::string& uri,
                                    Knowledge knowledge) {
  const auto certainty = knowledge == Knowledge::grows ? Certainty::certain : Certainty::guess;
  const auto route = merged.routes().find(uri, certainty);
  if (!route) return std::nullopt;
  return Target{route->server, route->uri};
}

}  // namespace

RequestRoute RequestRouter::route(std::string_view line, const Message& message,
                                  std::string_view own_id, Knowledge knowledge) {
  const std::string_view method = message.method;
  if (method == mcp::method::tools_call) return named(ListKind::tools, line, message, knowledge);
  if (method == mcp::method::prompts_get) return named(ListKind::prompts, line, message, knowledge);
  if (method == mcp::method::resources_read) return resource(line, message, knowledge);
  if (method == mcp::method::complete) return completion(line, message, own_id, knowledge);
  const bool is_task = method == mcp::method::tasks_get || method == mcp::method::tasks_update ||
                       method == mcp::method::tasks_cancel;
  return is_task ? task(line, message) : NoRoute{};
}

RequestRoute RequestRouter::named(ListKind kind, std::string_view line, const Message& message,
                                  Knowledge knowledge) {
  const auto target = merged_.find_named(kind, message.name_text);
  if (!target) {
    if (knowledge == Knowledge::grows && is_short_form(message.name_text)) return ToBeSeen{};
    if (kind == ListKind::tools) {
      return unknown_tool(line, message, {std::nullopt, message.name_text, "default"});
    }
    return unknown_prompt(line, message);
  }
  if (kind == ListKind::tools) {
    const Rights& rights = members_.rights(target->server);
    if (!rights.shows(AccessKind::tool, target->original)) {
      const AccessVerdict verdict = rights.decide({AccessKind::tool, target->original, nullptr});
      return unknown_tool(line, message,
                          {target->server, target->original, name_of(verdict, AccessKind::tool)});
    }
  } else if (!members_.rights(target->server).shows(AccessKind::prompt, target->original)) {
    return unknown_prompt(line, message);
  }
  return ToServer{target->server, {{message.name, json_string(target->original)}}};
}

RequestRoute RequestRouter::resource(std::string_view line, const Message& message,
                                     Knowledge knowledge) {
  const std::string uri = text_from(message.uri.in(line));
  const auto target = find_resource(merged_, uri, knowledge);
  const bool is_hidden =
      target && !members_.rights(target->server).shows(AccessKind::resource, target->original);
  if (is_hidden) return ToNobody{no_such_resource(message.id.in(line), uri), std::nullopt};
  if (target) return ToServer{target->server, {{message.uri, json_string(target->original)}}};
  if (knowledge == Knowledge::grows) return ToBeSeen{};
  return ToNobody{no_such_resource(message.id.in(line), uri), std::nullopt};
}

// What is completed is named two levels down, where no span points: the parameters are small.
RequestRoute RequestRouter::completion(std::string_view line, const Message& message,
                                       std::string_view own_id, Knowledge knowledge) {
  Json params = parse_json(message.params.in(line));
  Json* ref = member(params, "ref");
  const bool is_prompt = ref != nullptr && string_in(*ref, "type") == "ref/prompt";
  const char* key = is_prompt ? "name" : "uri";
  const std::string shown = ref == nullptr ? "" : string_in(*ref, key);
  // Then it is an object: what is put into it below has its place there.
  if (shown.empty()) {
    return ToNobody{protocol_error(message.id.in(line), mcp::invalid_params, "Unknown reference: "),
                    {}};
  }

  std::optional<Target> target;
  if (is_prompt) {
    target = merged_.find_named(ListKind::prompts, shown);
  } else {
    target = merged_.find_template(shown);
    if (!target) target = find_resource(merged_, shown, knowledge);
  }
  if (!target && knowledge == Knowledge::grows) return ToBeSeen{};
  const AccessKind kind = is_prompt ? AccessKind::prompt : AccessKind::resource_template;
  if (!target || !members_.rights(target->server).shows(kind, target->original)) {
    return ToNobody{
        protocol_error(message.id.in(line), mcp::invalid_params, "Unknown reference: " + shown),
        std::nullopt};
  }
  (*ref)[key] = target->original;
  if (!message.meta_progress_token.empty()) {
    params["_meta"]["progressToken"] = parse_json(own_id);
  }
  return ToServer{target->server, {{message.params, text_of(params)}}};
}

RequestRoute RequestRouter::task(std::string_view line, const Message& message) {
  const auto route = message.task_ids.size() == 1
                         ? find_task(members_, message.task_ids.front().in(line))
                         : std::nullopt;
  if (!route) {
    return ToNobody{protocol_error(message.id.in(line), mcp::invalid_params, "Task not found"),
                    std::nullopt};
  }
  return ToServer{route->server, {{message.task_ids.front(), json_string(route->id)}}};
}

}  // namespace cellblock::gateway
