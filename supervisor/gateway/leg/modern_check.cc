#include "supervisor/gateway/leg/modern_check.h"

#include <fmt/format.h>

#include "supervisor/gateway/era/json_tree.h"
#include "supervisor/gateway/era/reserved_meta.h"
#include "supervisor/gateway/era/revisions.h"
#include "supervisor/gateway/message/replies.h"

namespace cellblock::gateway {

namespace {

constexpr std::string_view quoted_revision = R"("2026-07-28")";
constexpr std::size_t longest_version = 64;

std::string missing(std::string_view id, std::string_view key) {
  Json error = error_of(invalid_params, fmt::format("Invalid _meta: {} is missing or of the wrong "
                                                    "type",
                                                    key));
  error["data"]["key"] = key;
  return error_text(id, error);
}

std::string unsupported(std::string_view id, const std::string& version) {
  const std::string shown = version.substr(0, longest_version);
  Json error = error_of(unsupported_version, "Unsupported protocol version: " + shown);
  error["data"]["supported"] = Json::array({modern_revision});
  error["data"]["requested"] = shown;
  return error_text(id, error);
}

}  // namespace

std::optional<std::string> refuse_modern(std::string_view line, const Message& message) {
  if (message.protocol_version.in(line) == quoted_revision &&
      !message.client_capabilities.empty()) {
    return std::nullopt;
  }
  const std::string_view id = message.id.in(line);
  if (!message.is_modern()) return missing(id, meta_key::version);
  const Json version = parse_json(message.protocol_version.in(line));
  if (!version.is_string()) return missing(id, meta_key::version);
  const auto& text = version.get_ref<const std::string&>();
  if (text != modern_revision) return unsupported(id, text);
  if (message.client_capabilities.empty()) return missing(id, meta_key::capabilities);
  return std::nullopt;
}

}  // namespace cellblock::gateway
