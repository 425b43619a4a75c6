#include "client/connection/notice_reader.h"

#include <nlohmann/json.hpp>

#include "client/connection/rpc_text.h"
#include "policy/json/json_text.h"
#include "policy/mcp/methods.h"

namespace cellblock::client {
namespace {

// What is no number is discarded unread: a tree of a peer's text may take long.
nlohmann::json number_member(std::string_view params, std::string_view key) {
  const auto raw = raw_member(params, key);
  return nlohmann::json::parse(raw.starts_with('{') || raw.starts_with('[') ? "" : raw, nullptr,
                               false);
}

std::string text_member(std::string_view params, std::string_view key) {
  return decoded(raw_member(params, key));  // empty, where it is no string
}

}  // namespace

std::optional<CallProgress> read_progress(std::string_view params) {
  const auto token = number_member(params, "progressToken");
  const auto progress = number_member(params, "progress");
  if (!token.is_number_unsigned() || !progress.is_number()) return std::nullopt;
  CallProgress read{.token = token, .progress = {.progress = progress}};
  if (const auto total = number_member(params, "total"); total.is_number())
    read.progress.total = total;
  read.progress.message = text_member(params, "message");
  return read;
}

std::optional<LogMessage> read_log_message(std::string_view params) {
  LogMessage message{.level = text_member(params, "level"),
                     .logger = text_member(params, "logger"),
                     .data = std::string(raw_member(params, "data"))};
  if (message.level.empty() || message.data.empty()) return std::nullopt;
  return message;
}

std::optional<ListKind> changed_list(std::string_view method) {
  if (method == mcp::notification::tools_changed) return ListKind::tools;
  if (method == mcp::notification::resources_changed) return ListKind::resources;
  if (method == mcp::notification::prompts_changed) return ListKind::prompts;
  return std::nullopt;
}

std::optional<std::string> read_updated_uri(std::string_view params) {
  auto uri = text_member(params, "uri");
  if (uri.empty()) return std::nullopt;
  return uri;
}

}  // namespace cellblock::client
