#include "supervisor/gateway/catalogue/discovery_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "policy/base/printable.h"
#include "policy/mcp/methods.h"
#include "policy/mcp/protocol_words.h"
#include "supervisor/gateway/message/json_tree.h"
#include "supervisor/gateway/message/replies.h"

namespace cellblock::gateway {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t shown_error = 200;

bool is_legacy_version(std::string_view version) {
  return mcp::is_legacy_revision(version) || version == mcp::before_release;
}

Json client_info() { return {{"name", "cellblock"}, {"version", CELLBLOCK_VERSION}}; }

Json envelope() {
  return {{mcp::meta_key::version, mcp::modern_revision},
          {mcp::meta_key::client, client_info()},
          {mcp::meta_key::capabilities, Json::object()}};
}

std::string request(std::uint64_t id, std::string_view method, Json params) {
  return write_tree(
      {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}});
}

Json object_at(const Json& parent, const char* key) {
  const auto found = parent.find(key);
  return found != parent.end() && found->is_object() ? *found : Json::object();
}

std::string string_at(const Json& parent, const char* key) {
  const auto found = parent.find(key);
  return found != parent.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool contains_text(const Json& list, auto&& wanted) {
  return list.is_array() && std::ranges::any_of(list, [&](const Json& value) {
           return value.is_string() && wanted(value.get_ref<const std::string&>());
         });
}

Json parsed_object(std::string_view text) {
  Json value = read_tree(text);
  return value.is_object() ? value : Json::object();
}

std::string cleaned_object(Json value, Findings& findings) {
  findings.add(clean_text(value));
  return write_tree(value);
}

std::optional<std::string> version_of(Era era, const Json& result) {
  if (era == Era::modern) {
    const auto supported = result.find("supportedVersions");
    const bool known =
        supported != result.end() && contains_text(*supported, [](const std::string& version) {
          return version == mcp::modern_revision;
        });
    return known ? std::optional<std::string>(mcp::modern_revision) : std::nullopt;
  }
  std::string version = string_at(result, "protocolVersion");
  if (!is_legacy_version(version)) return std::nullopt;
  return version;
}

Json server_info(Era era, const Json& result) {
  if (era == Era::legacy) return object_at(result, "serverInfo");
  return object_at(object_at(result, "_meta"), mcp::meta_key::server);
}

}  // namespace

bool is_known_version(Era era, std::string_view version) {
  return era == Era::modern ? version == mcp::modern_revision : is_legacy_version(version);
}

std::string discover_request(std::uint64_t id) {
  return request(id, mcp::method::discover, {{"_meta", envelope()}});
}

std::string initialize_request(std::uint64_t id) {
  return request(id, mcp::method::initialize,
                 {{"protocolVersion", mcp::newest_legacy},
                  {"capabilities", Json::object()},
                  {"clientInfo", client_info()}});
}

std::string initialized_notification() {
  return fmt::format(R"({{"jsonrpc":"2.0","method":"{}"}})", mcp::notification::initialized);
}

std::string list_request(std::uint64_t id, Era era, const ListPages::Page& page) {
  Json params = Json::object();
  if (page.cursor) params["cursor"] = *page.cursor;
  if (era == Era::modern) params["_meta"] = envelope();
  return request(id, mcp::facts_of(page.kind).method, std::move(params));
}

std::string answer_to_server(std::string_view method, std::string_view id) {
  if (method == mcp::method::ping) return result_reply(id, "{}");
  return protocol_error(id, mcp::method_not_found, "Method not found");
}

EraHint era_hint(std::string_view error) {
  const Json value = parsed_object(error);
  const auto code = value.find("code");
  if (code == value.end() || *code != mcp::unsupported_version) return EraHint::none;
  const Json data = object_at(value, "data");
  const auto supported = data.find("supported");
  if (supported == data.end()) return EraHint::unknown;
  const auto is_modern = [](const std::string& version) { return version == mcp::modern_revision; };
  if (contains_text(*supported, is_modern)) return EraHint::modern;
  return contains_text(*supported, is_legacy_version) ? EraHint::legacy : EraHint::unknown;
}

std::string error_code(std::string_view error) {
  const Json value = parsed_object(error);
  const auto code = value.find("code");
  return code != value.end() && code->is_number() ? write_tree(*code) : "?";
}

std::string error_text(std::string_view error) {
  const Json value = parsed_object(error);
  return printable(fmt::format("{} {}", error_code(error), string_at(value, "message")),
                   shown_error);
}

std::optional<Catalogue> read_introduction(Era era, std::string_view result, Findings& findings) {
  const Json value = parsed_object(result);
  auto version = version_of(era, value);
  if (!version) return std::nullopt;
  Catalogue catalogue;
  catalogue.era = era;
  catalogue.protocol_version = std::move(*version);
  catalogue.server_info = cleaned_object(server_info(era, value), findings);
  catalogue.capabilities = cleaned_object(object_at(value, "capabilities"), findings);
  catalogue.instructions = string_at(value, "instructions");
  if (auto cleaned = cleaned_instructions(catalogue.instructions, findings)) {
    catalogue.instructions = std::move(*cleaned);
  }
  return catalogue;
}

}  // namespace cellblock::gateway
