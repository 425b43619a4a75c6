#include "client/cli/inspect/result_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/cli/terminal/json_text.h"
#include "client/cli/terminal/terminal_text.h"
#include "policy/mcp/methods.h"

namespace cellblock::cli {
namespace {

std::string contents_text(const Json& result) {
  std::string text;
  const auto contents = objects_of(result, "contents");
  for (const auto& content : contents) {
    if (!text.empty()) text += '\n';
    if (contents.size() > 1) text += fmt::format("[{}]\n", text_of(content, "uri"));
    text += content.contains("text")
                ? raw_text(content, "text")
                : fmt::format("[{}, {} bytes of base64]", text_of(content, "mimeType"),
                              raw_text(content, "blob").size());
  }
  return text;
}

std::string messages_text(const Json& result) {
  auto text = raw_text(result, "description");
  for (const auto& message : objects_of(result, "messages")) {
    const Json as_content{{"content", Json::array({message.value("content", Json())})}};
    text += fmt::format("{}{}: {}", text.empty() ? "" : "\n", text_of(message, "role"),
                        content_text(dumped(as_content)));
  }
  return text;
}

std::string completion_text(const Json& result) {
  const auto completion = object_of(result, "completion");
  std::string text;
  if (completion.contains("values") && completion["values"].is_array()) {
    for (const auto& value : completion["values"]) {
      if (value.is_string())
        text += (text.empty() ? "" : "\n") + safe_line(value.get<std::string>());
    }
  }
  const auto total = number_of(completion, "total");
  if (completion.value("hasMore", Json(false)) == Json(true)) {
    text += total > 0 ? fmt::format("\n... of {} in all", total) : "\n... and more";
  }
  return text;
}

bool is_input_required(const Json& result) {
  return result.value("resultType", Json()) == Json("input_required");
}

std::string progress_text(const Json& params) {
  auto text = "progress " + params.value("progress", Json(0)).dump();
  if (params.contains("total")) text += " of " + params["total"].dump();
  const auto message = raw_text(params, "message");
  return message.empty() ? text : text + ": " + message;
}

std::string log_text(const Json& params) {
  const auto data = params.value("data", Json());
  const auto logger = raw_text(params, "logger");
  return fmt::format("log {}{}{}: {}", raw_text(params, "level"), logger.empty() ? "" : " ", logger,
                     data.is_string() ? data.get<std::string>() : dumped(data));
}

}  // namespace

std::string result_text(Verb verb, std::string_view result) {
  const auto json = Json::parse(result, nullptr, false);
  if (!json.is_object() || is_input_required(json)) return dumped(json, 2);
  switch (verb) {
    case Verb::call:
      return content_text(result);
    case Verb::read:
      return contents_text(json);
    case Verb::get:
      return messages_text(json);
    case Verb::complete:
      return completion_text(json);
    default:
      return dumped(json, 2);
  }
}

std::string notification_text(std::string_view method, std::string_view params) {
  const auto json = Json::parse(params, nullptr, false);
  if (json.is_object() && method == mcp::notification::progress)
    return safe_line(progress_text(json));
  if (json.is_object() && method == mcp::notification::log_message)
    return safe_line(log_text(json));
  return safe_line(fmt::format("{} {}", method, params));
}

}  // namespace cellblock::cli
