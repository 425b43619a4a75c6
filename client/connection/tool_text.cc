#include "client/connection/tool_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "client/connection/host_permissions.h"
#include "client/connection/rpc_text.h"
#include "policy/approvals/approvals.h"
#include "policy/base/result.h"
#include "policy/json/json_text.h"
#include "policy/mcp/methods.h"
#include "policy/mcp/protocol_words.h"

namespace cellblock::client {

std::optional<ApprovalQuestion> read_question(std::string_view method, std::string_view params) {
  if (method != mcp::method::elicitation_create) return std::nullopt;
  auto message = decoded(raw_member(params, "message"));
  if (!message.starts_with(approval_question::beginning)) return std::nullopt;
  const auto about = raw_member(raw_member(params, "_meta"), approval_question::meta_key);
  const auto text = [&](std::string_view name) { return decoded(raw_member(about, name)); };
  ApprovalQuestion question{.call = {.server = text("server"),
                                     .kind = kind_of(text("method")),
                                     .method = text("method"),
                                     .name = text("name"),
                                     .arguments = text("arguments"),
                                     .params = text("params"),
                                     .reason = std::move(message)},
                            .call_id = std::string(raw_member(about, "id"))};
  return question;
}

std::string question_answer(Verdict verdict) {
  return verdict == Verdict::allow ? R"({"action":"accept","content":{"allow":true}})"
                                   : R"({"action":"decline"})";
}

std::string with_elicitation(const std::string& capabilities) {
  if (!raw_member(capabilities, "elicitation").empty()) return capabilities;
  return with_first_member(capabilities, capabilities.find('{'), R"("elicitation":{})");
}

namespace {

using Json = nlohmann::ordered_json;

std::unexpected<Error> unexpected_answer(std::string_view what) {
  return std::unexpected(
      Error{.code = ErrorCode::protocol, .text = fmt::format("the answer holds no {}", what)});
}

// Of a block, a resource's contents, or a prompt's message; nullopt: it is no text.
std::optional<std::string> text_of(std::string_view item, ResultShape shape) {
  if (shape == ResultShape::prompt) item = raw_member(item, "content");
  const auto members = raw_members(item);
  if (!members) return std::nullopt;
  if (shape != ResultShape::resource_read && member_text(*members, "type") != "text") {
    return std::nullopt;
  }
  const auto* const text = find_member(*members, "text");
  if (text == nullptr || !is_raw_string(text->value)) return std::nullopt;
  return decoded(text->value);
}

std::string_view items_of(std::string_view result, ResultShape shape) {
  switch (shape) {
    case ResultShape::tool_call:
      return raw_member(result, "content");
    case ResultShape::resource_read:
      return raw_member(result, "contents");
    case ResultShape::prompt:
      break;
  }
  return raw_member(result, "messages");
}

std::string first_text(std::string_view result) {
  const auto items = raw_elements(raw_member(result, "content"));
  if (!items || items->empty()) return {};
  return text_of(items->front(), ResultShape::tool_call).value_or("");
}

}  // namespace

std::string joined_text(std::string_view result, ResultShape shape) {
  std::string joined;
  bool is_first = true;
  const auto items = raw_elements(items_of(result, shape));
  if (!items) return joined;
  for (const auto item : *items) {
    const auto text = text_of(item, shape);
    if (!text) continue;
    if (!std::exchange(is_first, false)) joined += '\n';
    joined += *text;
  }
  return joined;
}

bool says_error(std::string_view result) { return raw_member(result, "isError") == "true"; }

Result<ToolResult> read_tool_result(std::string result) {
  if (!raw_members(result)) return unexpected_answer("tool result");
  // The gateway's own failure: its sentence, and the advice behind it.
  const auto failure = raw_member(raw_member(result, "_meta"), mcp::meta_key::error);
  if (const auto members = raw_members(failure)) {
    const auto code = member_text(*members, "code");
    return std::unexpected(Error{.code = code_of_failure(code),
                                 .text = on_one_line(first_text(result)),
                                 .rpc_code = 0,
                                 .data = std::string(failure),
                                 .failure = code,
                                 .advice = member_text(*members, "advice")});
  }
  auto text = joined_text(result, ResultShape::tool_call);
  const bool is_error = says_error(result);
  return ToolResult{.json = std::move(result), .text = std::move(text), .is_error = is_error};
}

Result<std::string> tool_call_params(std::string_view tool, std::string_view arguments) {
  auto object = one_line_object(arguments);
  if (!object) {
    object.error().text = "the arguments of a tool are a JSON object";
    return object;
  }
  return fmt::format(R"({{"name":{},"arguments":{}}})", json_string(tool), *object);
}

Result<std::string> initialize_params(const Options& options) {
  auto capabilities = one_line_object(options.capabilities);
  if (capabilities && options.on_approval) capabilities = with_elicitation(*capabilities);
  if (!capabilities) {
    capabilities.error().text = "the client's capabilities are a JSON object";
    return capabilities;
  }
  return fmt::format(
      R"({{"protocolVersion":"{}","capabilities":{},"clientInfo":{{"name":{},"version":{}}}}})",
      mcp::newest_legacy, *capabilities, json_string(options.client_name),
      json_string(options.client_version));
}

std::string attach_params(std::string_view server, AttachFlags flags,
                          const std::map<std::string, std::string>& labels, std::string_view role) {
  std::string members;
  const auto add = [&members](std::string_view member) {
    members.append(members.empty() ? "" : ",").append(member);
  };
  if (!server.empty()) add(fmt::format(R"("server":{})", json_string(server)));
  if (flags.stdio) add(R"("stdio":true)");
  if (flags.journal) add(R"("journal":true)");
  if (flags.workspace) add(R"("workspace":true)");
  if (flags.probe) add(R"("probe":true)");
  if (flags.on_demand) add(R"("start":"on_demand")");
  if (flags.tools == ToolListing::all) add(R"("tools":"all")");
  if (flags.tools == ToolListing::search) add(R"("tools":"search")");
  if (!role.empty()) add(fmt::format(R"("role":{})", json_string(role)));
  if (!labels.empty()) {
    add(R"("labels":)" + Json(labels).dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  return "{" + members + "}";
}

Result<Attached> read_attached(std::string_view result) {
  const auto members = raw_members(result);
  if (!members) return unexpected_answer("session");
  return Attached{.server = member_text(*members, "server"),
                  .session = member_text(*members, "session"),
                  .cell = member_text(*members, "cell"),
                  .workspace = raw_member(result, "workspace") == "true"};
}

}  // namespace cellblock::client
