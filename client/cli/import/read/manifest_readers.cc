#include "client/cli/import/read/manifest_readers.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/cli/import/read/declared_server.h"

namespace cellblock::cli {
namespace {

using Json = nlohmann::ordered_json;

// Bounded, since what is put in may be long and stand often.
void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (auto at = text.find(what); at != std::string::npos && text.size() <= max_import_text;
       at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

bool is_asked_secret(const std::string& value, const Json& asked) {
  for (const auto& [name, input] : asked.items()) {
    const bool is_in = value.find("${user_config." + name + "}") != std::string::npos;
    if (is_in && is_true(input, "sensitive")) return true;
  }
  return false;
}

void fill_defaults(std::string& text, const Json& asked) {
  for (const auto& [name, input] : asked.items()) {
    if (!input.is_object() || !input.contains("default")) continue;
    const Json& value = input["default"];
    if (value.is_structured() || value.is_null()) continue;
    replace_all(text, "${user_config." + name + "}",
                value.is_string() ? value.get<std::string>() : value.dump());
  }
}

Result<void> read_start(const Json& start, DeclaredServer& server) {
  const auto program = CELLBLOCK_TRY(text_member(start, "command"));
  auto arguments = CELLBLOCK_TRY(texts_member(start, "args"));
  auto variables = CELLBLOCK_TRY(variables_member(start, "env"));
  if (!program.empty()) server.command = {program};
  const bool has_program = !server.command.empty();
  if (has_program && (start.contains("args") || !program.empty())) {
    server.command.resize(1);
    std::ranges::move(arguments, std::back_inserter(server.command));
  }
  for (const auto& variable : variables) {
    std::erase_if(server.variables, [&](const auto& one) { return one.name == variable.name; });
  }
  std::ranges::move(variables, std::back_inserter(server.variables));
  return {};
}

void fill_in(const Json& asked, DeclaredServer& server) {
  for (auto& word : server.command) fill_defaults(word, asked);
  for (auto& variable : server.variables) {
    variable.secret = is_asked_secret(variable.value, asked);
    if (!variable.secret) fill_defaults(variable.value, asked);
  }
}

Result<std::string> obstacle_of(const Json& document, const DeclaredServer& server) {
  const auto type = CELLBLOCK_TRY(text_member(object_member(document, "server"), "type"));
  if (type == "uv") {
    return std::string(
        "it has uv fetch its packages at each start (server.type \"uv\"): allowed: a bundle that "
        "holds them");
  }
  const auto platforms =
      CELLBLOCK_TRY(texts_member(object_member(document, "compatibility"), "platforms"));
  const bool is_for_here =
      platforms.empty() || std::ranges::find(platforms, std::string("linux")) != platforms.end();
  if (!is_for_here) return std::string("its manifest does not name linux among its platforms");
  return std::string(server.command.empty() ? "its manifest has no server.mcp_config.command" : "");
}

}  // namespace

Result<DeclaredServer> unfilled_bundle(const Json& document, const DeclaredBundle& bundle) {
  const Json& described = object_member(document, "server");
  const Json& start = object_member(described, "mcp_config");
  DeclaredServer server{.bundle = bundle};
  server.name = CELLBLOCK_TRY(text_member(document, "name"));
  CELLBLOCK_CHECK(read_start(start, server));
  CELLBLOCK_CHECK(
      read_start(object_member(object_member(start, "platform_overrides"), "linux"), server));
  server.obstacle = CELLBLOCK_TRY(obstacle_of(document, server));
  return server;
}

Result<std::vector<DeclaredServer>> servers_of_bundle(const Json& document,
                                                      const DeclaredBundle& bundle) {
  auto server = CELLBLOCK_TRY(unfilled_bundle(document, bundle));
  fill_in(object_member(document, "user_config"), server);
  return std::vector<DeclaredServer>{std::move(server)};
}

namespace {

// What the person who starts it is asked for becomes a placeholder.
Result<std::string> value_of(const Json& input, const std::string& name) {
  for (const char* member : {"value", "default"}) {
    auto text = CELLBLOCK_TRY(text_member(input, member));
    if (!text.empty()) return text;
  }
  const auto hint = CELLBLOCK_TRY(text_member(input, "valueHint"));
  return fmt::format("${{{}}}", hint.empty() ? name : hint);
}

Result<void> read_argument(const Json& input, std::vector<std::string>& words) {
  const auto type = CELLBLOCK_TRY(text_member(input, "type"));
  const auto name = CELLBLOCK_TRY(text_member(input, "name"));
  auto value = CELLBLOCK_TRY(value_of(input, name.empty() ? "value" : name));
  const bool is_given = input.contains("value") || input.contains("default");
  if (!is_given && input.contains("isRequired") && !is_true(input, "isRequired")) return {};
  const bool is_named = type == "named" && !name.empty();
  if (is_named) words.push_back(name);
  if (!is_named || is_given || input.contains("valueHint")) words.push_back(std::move(value));
  return {};
}

Result<std::vector<std::string>> arguments_of(const Json& package) {
  std::vector<std::string> words;
  for (const auto& input : array_member(package, "packageArguments")) {
    if (input.is_object()) CELLBLOCK_CHECK(read_argument(input, words));
  }
  return words;
}

Result<void> read_variable(const Json& input, DeclaredServer& server) {
  auto name = CELLBLOCK_TRY(text_member(input, "name"));
  const bool is_given = input.contains("value") || input.contains("default");
  if (name.empty()) return {};
  if (!is_given && !is_true(input, "isRequired")) {
    server.unheeded.push_back("the variable " + name + " (it is optional)");
    return {};
  }
  auto value = CELLBLOCK_TRY(value_of(input, name));
  server.variables.push_back(
      {.name = std::move(name), .value = std::move(value), .secret = is_true(input, "isSecret")});
  return {};
}

std::optional<Registry> registry_of(const Json& package) {
  const auto type = text_member(package, "registryType").value_or("");
  const auto transport = text_member(object_member(package, "transport"), "type").value_or("");
  if (!transport.empty() && transport != "stdio") return std::nullopt;
  if (type == "npm") return Registry::npm;
  if (type == "pypi") return Registry::pypi;
  return std::nullopt;
}

Result<void> read_package(const Json& package, Registry registry, DeclaredServer& server) {
  auto name = CELLBLOCK_TRY(text_member(package, "identifier"));
  auto version = CELLBLOCK_TRY(text_member(package, "version"));
  if (name.empty()) return fail("a package has no \"identifier\"");
  server.package = {.registry = registry, .name = std::move(name), .version = std::move(version)};
  server.command = CELLBLOCK_TRY(arguments_of(package));
  for (const auto& input : array_member(package, "environmentVariables")) {
    if (input.is_object()) CELLBLOCK_CHECK(read_variable(input, server));
  }
  if (!array_member(package, "runtimeArguments").empty()) {
    server.unheeded.emplace_back("runtimeArguments");
  }
  return {};
}

Result<void> read_remote(const Json& remote, DeclaredServer& server) {
  server.url = CELLBLOCK_TRY(text_member(remote, "url"));
  server.transport = CELLBLOCK_TRY(text_member(remote, "type"));
  for (const auto& input : array_member(remote, "headers")) {
    if (!input.is_object()) continue;
    auto name = CELLBLOCK_TRY(text_member(input, "name"));
    auto value = CELLBLOCK_TRY(text_member(input, "value"));
    const bool is_open = value.find('{') != std::string::npos;
    server.headers.push_back({.name = std::move(name), .value = is_open ? "" : std::move(value)});
  }
  return {};
}

std::string last_part(const std::string& name) { return name.substr(name.rfind('/') + 1); }

}  // namespace

Result<std::vector<DeclaredServer>> servers_of_registry(const Json& document) {
  const auto name = CELLBLOCK_TRY(text_member(document, "name"));
  DeclaredServer server{.name = last_part(name)};
  for (const auto& package : array_member(document, "packages")) {
    if (!package.is_object() || server.package) continue;
    const auto registry = registry_of(package);
    if (registry) CELLBLOCK_CHECK(read_package(package, *registry, server));
  }
  const Json& remotes = array_member(document, "remotes");
  if (!server.package && !remotes.empty() && remotes.front().is_object()) {
    CELLBLOCK_CHECK(read_remote(remotes.front(), server));
  }
  if (!server.package && server.url.empty()) {
    server.obstacle = "it has no package of npm or PyPI that speaks over stdio, and no address";
  }
  return std::vector<DeclaredServer>{std::move(server)};
}

}  // namespace cellblock::cli
