#include "client/cli/host_files/own_servers.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "client/cli/import/bounded_file.h"
#include "client/cli/import/input_json.h"
#include "client/cli/import/members.h"
#include "client/connection/default_socket.h"
#include "policy/config/names.h"

namespace cellblock::cli {
namespace {

using Declaration = nlohmann::ordered_json;

std::vector<std::string> declaring_files(const AddPlaces& places) {
  std::vector<std::string> files;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(places.declarations, ignored)) {
    if (entry.path().extension() == ".toml") files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  files.insert(files.begin(), places.main_file);
  return files;
}

// Of the system's servers only root can tell; that of a command or a credential nobody here.
std::optional<std::string> secret_value(const Declaration& where) {
  if (!where.is_string()) return std::nullopt;
  auto value = bounded_file(where.get<std::string>(), max_import_text);
  if (!value) return std::nullopt;
  if (value->ends_with('\n')) value->pop_back();
  return *std::move(value);
}

std::map<std::string, std::optional<std::string>> variables_given(const Declaration& table) {
  std::map<std::string, std::optional<std::string>> given;
  for (const auto& [name, value] : object_member(table, "env").items()) {
    given[name] =
        value.is_string() ? std::optional<std::string>(value.get<std::string>()) : std::nullopt;
  }
  for (const auto& [name, where] : object_member(table, "env_from_file").items()) {
    given[name] = secret_value(where);
  }
  return given;
}

OwnServer server_in(const AddPlaces& places, const std::string& name, const Declaration& table) {
  OwnServer server{.name = name};
  if (auto origin = origin_of(places, name)) server.origin = *std::move(origin);
  server.command = texts_member(table, "command").value_or(std::vector<std::string>{});
  server.variables = variables_given(table);
  return server;
}

// Without a word about the daemon a host would reach the user's own where that runs.
std::vector<std::string> arguments_to(const std::string& name, Mode mode, const Context& context) {
  if (mode == Mode::user) return {"--user", "connect", name};
  if (context.socket == client::system_socket_path()) return {"connect", name};
  if (context.socket == client::user_socket_path()) return {"--system", "connect", name};
  return {"--socket", context.socket, "connect", name};
}

}  // namespace

std::vector<OwnServer> declared_in(const AddPlaces& places) {
  std::vector<OwnServer> servers;
  for (const auto& file : declaring_files(places)) {
    const auto text = bounded_file(file, max_import_bytes);
    const auto whole = text ? json_of_toml(*text) : Result<Declaration>(fail(""));
    if (!whole) continue;
    for (const auto& [name, table] : object_member(*whole, "server").items()) {
      if (is_short_name(name) && table.is_object())
        servers.push_back(server_in(places, name, table));
    }
  }
  return servers;
}

std::vector<OwnServer> own_servers(const Context& context) {
  std::vector<OwnServer> all;
  for (const Mode mode : {Mode::user, Mode::system}) {
    if (context.mode != Mode::either && context.mode != mode) continue;
    auto servers = declared_in(places_of(context, mode));
    for (auto& server : servers) server.arguments = arguments_to(server.name, mode, context);
    std::ranges::move(servers, std::back_inserter(all));
  }
  return all;
}

}  // namespace cellblock::cli
