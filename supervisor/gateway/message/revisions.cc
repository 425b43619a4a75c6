#include "supervisor/gateway/message/revisions.h"

#include <algorithm>

#include "policy/mcp/methods.h"
#include "policy/mcp/protocol_words.h"

namespace cellblock::gateway {

std::string_view answer_to_version(std::string_view asked) {
  const auto found = std::ranges::find(mcp::legacy_revisions, asked);
  return found == mcp::legacy_revisions.end() ? mcp::newest_legacy : *found;
}

std::optional<std::string> legacy_among_supported(const Json& error) {
  const Json* data = member(error, "data");
  const Json* supported = data == nullptr ? nullptr : member(*data, "supported");
  if (supported == nullptr || !supported->is_array()) return std::nullopt;
  std::string newest;
  for (const Json& version : *supported) {
    if (!version.is_string() || !mcp::is_legacy_revision(version.get<std::string>())) continue;
    newest = std::max(newest, version.get<std::string>());
  }
  return newest.empty() ? std::nullopt : std::optional(newest);
}

namespace {

// MCP Apps: what it adds is data in resources and in `_meta`, no message of its own.
constexpr const char* known_extension = mcp::extension::apps;

void carry(const Json& from, Json& to, const char* key) {
  if (const Json* found = object_in(from, key)) to[key] = *found;
}

void carry_extensions(const Json& from, Json& to) {
  const Json* extensions = object_in(from, "extensions");
  if (extensions == nullptr) return;
  if (const Json* known = object_in(*extensions, known_extension)) {
    to["extensions"] = {{known_extension, *known}};
  }
}

bool is_url_mode(const Json& params) { return string_in(params, "mode") == "url"; }

bool may_elicit(const Json& params, const Json& elicitation) {
  if (is_url_mode(params)) return object_in(elicitation, "url") != nullptr;
  return elicitation.empty() || object_in(elicitation, "form") != nullptr;
}

bool may_sample(const Json& params, const Json& sampling) {
  return member(params, "tools") == nullptr || object_in(sampling, "tools") != nullptr;
}

}  // namespace

Json carried_client_capabilities(const Json& capabilities, const ClientFeatures& features) {
  Json carried = Json::object();
  // Without listChanged: nobody carries notifications/roots/list_changed.
  if (features.roots && object_in(capabilities, "roots") != nullptr) {
    carried["roots"] = Json::object();
  }
  if (features.sampling) carry(capabilities, carried, "sampling");
  if (features.elicitation) carry(capabilities, carried, "elicitation");
  carry_extensions(capabilities, carried);
  return carried;
}

Json carried_server_capabilities(const Json& capabilities) {
  Json carried = Json::object();
  for (const char* key : {"tools", "resources", "prompts", "logging", "completions"}) {
    carry(capabilities, carried, key);
  }
  carry_extensions(capabilities, carried);
  return carried;
}

bool may_be_asked(std::string_view method, const Json& params, const Json& capabilities) {
  if (method == mcp::method::roots_list) return object_in(capabilities, "roots") != nullptr;
  if (method == mcp::method::sampling_create) {
    const Json* sampling = object_in(capabilities, "sampling");
    return sampling != nullptr && may_sample(params, *sampling);
  }
  if (method != mcp::method::elicitation_create) return false;
  const Json* elicitation = object_in(capabilities, "elicitation");
  return elicitation != nullptr && may_elicit(params, *elicitation);
}

Json needed_for(std::string_view method, const Json& params) {
  const Json nothing = Json::object();
  if (method == mcp::method::roots_list) return {{"roots", nothing}};
  if (method == mcp::method::sampling_create) return {{"sampling", nothing}};
  return {{"elicitation", {{is_url_mode(params) ? "url" : "form", nothing}}}};
}

bool may_ask(std::string_view method) {
  return method == mcp::method::tools_call || method == mcp::method::prompts_get ||
         method == mcp::method::resources_read;
}

}  // namespace cellblock::gateway
