#include "client/cli/import/bundle_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/cli/import/members.h"

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

}  // namespace

Result<std::vector<DeclaredServer>> servers_of_bundle(const Json& document,
                                                      const DeclaredBundle& bundle) {
  const Json& described = object_member(document, "server");
  const Json& start = object_member(described, "mcp_config");
  DeclaredServer server{.bundle = bundle};
  server.name = CELLBLOCK_TRY(text_member(document, "name"));
  CELLBLOCK_CHECK(read_start(start, server));
  CELLBLOCK_CHECK(
      read_start(object_member(object_member(start, "platform_overrides"), "linux"), server));
  fill_in(object_member(document, "user_config"), server);
  if (server.command.empty()) server.obstacle = "its manifest has no server.mcp_config.command";
  return std::vector<DeclaredServer>{std::move(server)};
}

}  // namespace cellblock::cli
