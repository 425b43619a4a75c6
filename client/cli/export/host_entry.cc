#include "client/cli/export/host_entry.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/cli/import/propose/cell_toml.h"

namespace cellblock::cli {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> arguments_for(const ConnectCommand& command, const std::string& server) {
  auto arguments = command.flags;
  arguments.insert(arguments.end(), {"connect", server});
  return arguments;
}

Json entry_of(Host host, const std::vector<std::string>& arguments) {
  Json entry = Json::object();
  if (host == Host::vscode || host == Host::claude_code || host == Host::cursor) {
    entry["type"] = "stdio";
  }
  if (host == Host::zed) entry["source"] = "custom";
  entry["command"] = "cellblock";
  entry["args"] = arguments;
  return entry;
}

// Codex starts servers with few of its variables; a daemon of the user's own is found by that one.
std::string codex_configuration(const ConnectCommand& command) {
  std::string text;
  for (const auto& server : command.servers) {
    std::string words;
    for (const auto& word : arguments_for(command, server)) {
      words += (words.empty() ? "" : ", ") + toml_text(word);
    }
    text += fmt::format(
        "{}[mcp_servers.{}]\ncommand = \"cellblock\"\nargs = [{}]\n"
        "env_vars = [\"XDG_RUNTIME_DIR\"]\n",
        text.empty() ? "" : "\n", server, words);
  }
  return text;
}

}  // namespace

std::string host_configuration(Host host, const ConnectCommand& command) {
  if (host == Host::codex) return codex_configuration(command);
  Json servers = Json::object();
  for (const auto& server : command.servers) {
    servers[server] = entry_of(host, arguments_for(command, server));
  }
  Json document = Json::object();
  document[facts_of(host).key] = std::move(servers);
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace cellblock::cli
