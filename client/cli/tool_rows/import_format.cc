#include "client/cli/tool_rows/import_format.h"

#include <nlohmann/json.hpp>

namespace cellblock::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Named {
  const char* name;
  ImportFormat format;
};

constexpr Named names[] = {
    {"claude-desktop", ImportFormat::mcp_servers},
    {"claude-code", ImportFormat::mcp_servers},
    {"cursor", ImportFormat::mcp_servers},
    {"gemini", ImportFormat::mcp_servers},
    {"vscode", ImportFormat::vscode},
    {"codex", ImportFormat::codex},
    {"zed", ImportFormat::zed},
    {"registry", ImportFormat::registry},
    {"mcpb", ImportFormat::bundle},
};

bool has_object(const Json& document, const char* name) {
  return document.contains(name) && document[name].is_object();
}

bool is_registry(const Json& document) {
  const auto is_list = [&document](const char* name) {
    return document.contains(name) && document[name].is_array();
  };
  return document.contains("name") && (is_list("packages") || is_list("remotes"));
}

bool is_bundle(const Json& document) {
  return has_object(document, "server") &&
         (document.contains("manifest_version") || document.contains("dxt_version"));
}

bool is_vscode(const Json& document) {
  return has_object(document, "servers") ||
         (has_object(document, "mcp") && has_object(document["mcp"], "servers"));
}

// Of Claude Code's own file, whose projects have servers of their own.
bool has_projects(const Json& document) {
  if (!has_object(document, "projects")) return false;
  for (const auto& project : document["projects"]) {
    if (project.is_object() && has_object(project, "mcpServers")) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> import_format_names() {
  std::vector<std::string> list;
  for (const auto& one : names) list.emplace_back(one.name);
  return list;
}

std::optional<ImportFormat> import_format_named(std::string_view name) {
  for (const auto& one : names) {
    if (one.name == name) return one.format;
  }
  return std::nullopt;
}

Result<ImportFormat> recognised_format(const Json& document) {
  if (!document.is_object()) return fail("it is no configuration: an object was expected");
  std::vector<ImportFormat> found;
  const auto note = [&found](bool is, ImportFormat format) {
    if (is) found.push_back(format);
  };
  note(has_object(document, "mcpServers") || has_projects(document), ImportFormat::mcp_servers);
  note(is_vscode(document), ImportFormat::vscode);
  note(has_object(document, "mcp_servers"), ImportFormat::codex);
  note(has_object(document, "context_servers"), ImportFormat::zed);
  note(is_registry(document), ImportFormat::registry);
  note(is_bundle(document), ImportFormat::bundle);
  if (found.size() == 1) return found.front();
  return fail(found.empty() ? "no servers are declared in it in any form that is known"
                            : "it could be of several formats: say which with --from");
}

}  // namespace cellblock::cli
