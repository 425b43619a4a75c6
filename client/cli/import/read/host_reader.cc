#include "client/cli/import/read/host_reader.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/cli/import/read/declared_server.h"

namespace cellblock::cli {
namespace {

using Json = nlohmann::ordered_json;

// What is taken over, and what says nothing that a cell could be told.
constexpr std::array<std::string_view, 27> heeded = {"command",
                                                     "args",
                                                     "env",
                                                     "cwd",
                                                     "url",
                                                     "serverUrl",
                                                     "httpUrl",
                                                     "type",
                                                     "envFile",
                                                     "env_vars",
                                                     "headers",
                                                     "sandbox",
                                                     "enabled",
                                                     "disabled",
                                                     "source",
                                                     "settings",
                                                     "enabled_tools",
                                                     "includeTools",
                                                     "sandboxEnabled",
                                                     "http_headers",
                                                     "transport",
                                                     "dev",
                                                     "description",
                                                     "name",
                                                     "alwaysAllow",
                                                     "bearer_token_env_var",
                                                     "env_http_headers"};

std::vector<std::string> unheeded_in(const Json& entry) {
  std::vector<std::string> names;
  for (const auto& [name, value] : entry.items()) {
    if (std::ranges::find(heeded, name) == heeded.end()) names.push_back(name);
  }
  return names;
}

// Zed had program, arguments and environment in an object of that name.
Result<void> read_command(const Json& entry, DeclaredServer& server) {
  const bool is_nested = entry.contains("command") && entry["command"].is_object();
  const Json& place = is_nested ? entry["command"] : entry;
  auto program = CELLBLOCK_TRY(text_member(place, is_nested ? "path" : "command"));
  auto arguments = CELLBLOCK_TRY(texts_member(place, "args"));
  server.variables = CELLBLOCK_TRY(variables_member(place, "env"));
  if (program.empty()) return {};
  server.command.push_back(std::move(program));
  std::ranges::move(arguments, std::back_inserter(server.command));
  return {};
}

std::string filled_from(const std::string& variable) { return "${" + variable + "}"; }

// Codex names variables of its environment.
Result<void> read_headers(const Json& entry, DeclaredServer& server) {
  for (const char* name : {"headers", "http_headers"}) {
    auto headers = CELLBLOCK_TRY(variables_member(entry, name));
    std::ranges::move(headers, std::back_inserter(server.headers));
  }
  const auto named = CELLBLOCK_TRY(variables_member(entry, "env_http_headers"));
  for (const auto& header : named) {
    server.headers.push_back({.name = header.name, .value = filled_from(header.value)});
  }
  const auto token = CELLBLOCK_TRY(text_member(entry, "bearer_token_env_var"));
  if (token.empty()) return {};
  server.headers.push_back({.name = "Authorization", .value = "Bearer " + filled_from(token)});
  return {};
}

Result<void> read_address(const Json& entry, DeclaredServer& server) {
  for (const char* name : {"url", "serverUrl", "httpUrl"}) {
    auto url = CELLBLOCK_TRY(text_member(entry, name));
    if (!url.empty()) server.url = std::move(url);
  }
  server.transport = CELLBLOCK_TRY(text_member(entry, "type"));
  return read_headers(entry, server);
}

Result<void> read_sandbox(const Json& entry, DeclaredServer& server) {
  const Json& sandbox = object_member(entry, "sandbox");
  if (!is_true(entry, "sandboxEnabled") && sandbox.empty()) return {};
  const Json& files = object_member(sandbox, "filesystem");
  const Json& network = object_member(sandbox, "network");
  DeclaredSandbox read;
  read.write = CELLBLOCK_TRY(texts_member(files, "allowWrite"));
  read.denied_read = CELLBLOCK_TRY(texts_member(files, "denyRead"));
  read.denied_write = CELLBLOCK_TRY(texts_member(files, "denyWrite"));
  read.domains = CELLBLOCK_TRY(texts_member(network, "allowedDomains"));
  read.denied_domains = CELLBLOCK_TRY(texts_member(network, "deniedDomains"));
  server.sandbox = std::move(read);
  return {};
}

Result<void> read_rest(const Json& entry, DeclaredServer& server) {
  server.directory = CELLBLOCK_TRY(text_member(entry, "cwd"));
  server.inherited = CELLBLOCK_TRY(texts_member(entry, "env_vars"));
  for (const char* name : {"enabled_tools", "includeTools"}) {
    auto tools = CELLBLOCK_TRY(texts_member(entry, name));
    std::ranges::move(tools, std::back_inserter(server.tools));
  }
  server.unheeded = unheeded_in(entry);
  const auto file = CELLBLOCK_TRY(text_member(entry, "envFile"));
  if (!file.empty()) server.unheeded.push_back("envFile (" + file + ")");
  return {};
}

void judge(const Json& entry, DeclaredServer& server) {
  const bool is_off =
      is_true(entry, "disabled") || (entry.contains("enabled") && entry["enabled"] == Json(false));
  if (is_off) server.unheeded.emplace_back("that it is switched off there");
  if (server.command.empty() && server.url.empty()) server.obstacle = "it has no command";
}

}  // namespace

Result<DeclaredServer> server_of_entry(const std::string& name, const Json& entry) {
  if (!entry.is_object()) return fail("it is no object");
  DeclaredServer server{.name = name};
  CELLBLOCK_CHECK(read_command(entry, server));
  CELLBLOCK_CHECK(read_address(entry, server));
  CELLBLOCK_CHECK(read_sandbox(entry, server));
  CELLBLOCK_CHECK(read_rest(entry, server));
  judge(entry, server);
  return server;
}

namespace {

// One that is written wrong is no reason to keep the others from their cells.
void read_entries(const Json& table, std::vector<DeclaredServer>& servers) {
  for (const auto& [name, entry] : table.items()) {
    auto server = server_of_entry(name, entry);
    if (!server) server = DeclaredServer{.name = name, .obstacle = server.error().text};
    servers.push_back(*std::move(server));
  }
}

std::vector<const Json*> tables_of(const Json& document, ImportFormat format) {
  switch (format) {
    case ImportFormat::vscode:
      return {&object_member(document, "servers"),
              &object_member(object_member(document, "mcp"), "servers")};
    case ImportFormat::codex:
      return {&object_member(document, "mcp_servers")};
    case ImportFormat::zed:
      return {&object_member(document, "context_servers")};
    default:
      break;
  }
  std::vector<const Json*> tables{&object_member(document, "mcpServers")};
  for (const auto& [path, project] : object_member(document, "projects").items()) {
    tables.push_back(&object_member(project, "mcpServers"));
  }
  return tables;
}

}  // namespace

Result<std::vector<DeclaredServer>> servers_of_host(const Json& document, ImportFormat format) {
  std::vector<DeclaredServer> servers;
  for (const Json* table : tables_of(document, format)) {
    read_entries(*table, servers);
  }
  return servers;
}

}  // namespace cellblock::cli
