#include "client/cli/host_files/entry_match.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <span>
#include <system_error>
#include <utility>

#include "client/cli/add/added_proposal.h"
#include "client/cli/import/read/bounded_file.h"
#include "client/cli/import/read/declared_server.h"
#include "client/cli/import/read/host_reader.h"
#include "client/cli/import/read/input_json.h"
#include "client/cli/import/read/package_run.h"
#include "client/cli/import/read/secret_guess.h"
#include "client/cli/import/remote/remote_server.h"
#include "client/connection/unix_connect.h"
#include "policy/config/names.h"
#include "policy/sandbox/environment_rules.h"

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

namespace {

using Words = std::vector<std::string>;
using Candidates = std::vector<const OwnServer*>;

// ---- its command ----

// A project's servers are started in that project, wherever we are.
std::string directory_of_entry(const HostEntry& entry, const std::string& here) {
  const bool is_of_project = entry.path.size() == 4 && entry.path[0] == "projects";
  const std::filesystem::path base(is_of_project ? entry.path[1] : here);
  return (base / text_member(entry.value, "cwd").value_or("")).string();
}

bool same_words(std::span<const std::string> some, std::span<const std::string> others) {
  return std::ranges::equal(some, others);
}

// A declaration has the whole path of what hosts look up in PATH.
bool is_program(const std::string& declared, const std::string& word) {
  return declared == word || (!word.contains('/') && declared.ends_with("/" + word));
}

// `npx PACKAGE` of what an administrator has installed and declared by hand. Which version that is
// does not show.
bool starts_installed(const Words& declared, const Words& line) {
  const auto run = package_run(line);
  if (!run || !*run) return false;
  const auto& package = (*run)->package;
  const bool is_any = package.version.empty() && (*run)->program.empty();
  if (!is_any || package.registry != Registry::npm) return false;
  const auto inside = "/node_modules/" + package.name + "/";
  for (std::size_t at = 0; at < declared.size() && at < 2; ++at) {
    if (!declared[at].contains(inside)) continue;
    return same_words(std::span(declared).subspan(at + 1), (*run)->arguments);
  }
  return false;
}

bool starts_declared(const Words& declared, const Words& line) {
  if (declared.empty() || line.empty()) return false;
  const bool is_same = is_program(declared[0], line[0]) &&
                       same_words(std::span(declared).subspan(1), std::span(line).subspan(1));
  return is_same || starts_installed(declared, line);
}

Candidates added_with(const std::vector<OwnServer>& servers, const Words& line) {
  Candidates found;
  for (const auto& server : servers) {
    if (server.origin && starts_the_same(*server.origin, line)) found.push_back(&server);
  }
  return found;
}

Candidates declared_as(const std::vector<OwnServer>& servers, const std::string& name,
                       const Words& line) {
  Candidates found;
  for (const auto& server : servers) {
    if (server.name == name && starts_declared(server.command, line)) found.push_back(&server);
  }
  return found;
}

// ---- its variables ----

// What a host fills in, and what no cell is given, says nothing about which server it is.
bool is_comparable(const std::string& value) { return !value.empty() && !is_placeholder(value); }

bool may_be_given(const std::string& name) {
  return is_variable_name(name) && name != "PATH" && !variable_problem(name);
}

Result<std::vector<DeclaredVariable>> variables_of(const HostEntry& entry) {
  const auto& nested = object_member(entry.value, "command");
  auto variables = CELLBLOCK_TRY(variables_member(nested.empty() ? entry.value : nested, "env"));
  const auto inherited = CELLBLOCK_TRY(texts_member(entry.value, "env_vars"));
  for (const auto& name : inherited) {
    variables.push_back({.name = name, .value = {}});
  }
  std::erase_if(variables, [](const auto& one) { return !may_be_given(one.name); });
  return variables;
}

// Empty: that server is given all of them.
std::string what_differs(const OwnServer& server, const std::vector<DeclaredVariable>& variables) {
  for (const auto& [name, value, is_secret] : variables) {
    const auto given = server.variables.find(name);
    if (given == server.variables.end()) {
      return fmt::format("it has the variable {}, which cellblock's server \"{}\" is not given",
                         name, server.name);
    }
    if (given->second && is_comparable(value) && *given->second != value) {
      return fmt::format(
          "its variable {} has another value than cellblock's server \"{}\" is given", name,
          server.name);
    }
  }
  return {};
}

// ---- which server it is ----

std::string why_unknown(const std::vector<OwnServer>& servers, const std::string& name) {
  if (std::ranges::find(servers, name, &OwnServer::name) != servers.end()) {
    return fmt::format("cellblock's server \"{}\" is started by another command", name);
  }
  return "cellblock has no such server (`cellblock import FILE --install` adds it)";
}

// One of those that it fits; among several the one of its own name.
EntryFate chosen(const HostEntry& entry, Candidates fitting) {
  const auto first_of = [](const OwnServer* server) { return server->arguments.front(); };
  const auto whose = first_of(fitting.front());
  std::erase_if(fitting, [&](const auto* server) { return first_of(server) != whose; });
  const auto own = std::ranges::find(fitting, entry.name(), &OwnServer::name);
  if (own != fitting.end()) return {.entry = &entry, .arguments = (*own)->arguments};
  if (fitting.size() == 1) return {.entry = &entry, .arguments = fitting.front()->arguments};
  Words names;
  std::ranges::transform(fitting, std::back_inserter(names), &OwnServer::name);
  return {.entry = &entry,
          .why_it_stays = fmt::format("several of cellblock's servers start by that line: {}",
                                      fmt::join(names, ", "))};
}

/// What an entry starts.
struct EntryLine {
  Words words;
  std::vector<DeclaredVariable> variables;
};

// Of a server with an address, the line of mcp-remote that cellblock has for it.
Result<EntryLine> line_of(const HostEntry& entry, const std::string& here,
                          const MachineView& machine) {
  auto line = command_of_entry(entry.value);
  if (!line.empty()) line = with_whole_paths(line, directory_of_entry(entry, here), machine);
  DeclaredServer server{.command = std::move(line)};
  if (server.command.empty()) {
    auto read = CELLBLOCK_TRY(server_of_entry(entry.name(), entry.value));
    server = std::move(read);
  }
  server.variables = CELLBLOCK_TRY(variables_of(entry));
  auto remote = CELLBLOCK_TRY(as_remote(std::move(server)));
  if (remote.command.empty()) return fail("it has no command");
  return EntryLine{std::move(remote.command), std::move(remote.variables)};
}

EntryFate fate_of(const HostEntry& entry, const EntryLine& line,
                  const std::vector<OwnServer>& servers) {
  auto candidates = added_with(servers, line.words);
  if (candidates.empty()) candidates = declared_as(servers, entry.name(), line.words);
  if (candidates.empty()) {
    return {.entry = &entry, .why_it_stays = why_unknown(servers, entry.name())};
  }
  if (entry.value.contains("envFile")) {
    return {.entry = &entry, .why_it_stays = "it has variables in a file of their own (envFile)"};
  }
  Candidates fitting;
  std::ranges::copy_if(candidates, std::back_inserter(fitting), [&](const auto* server) {
    return what_differs(*server, line.variables).empty();
  });
  if (!fitting.empty()) return chosen(entry, std::move(fitting));
  return {.entry = &entry, .why_it_stays = what_differs(*candidates.front(), line.variables)};
}

// ---- all of them ----

// The arguments of `cellblock` that it has now or would have.
Words arguments_then(const HostEntry& entry, const std::vector<EntryFate>& fates) {
  const auto fate = std::ranges::find(fates, &entry, &EntryFate::entry);
  if (fate != fates.end()) return fate->arguments;
  auto words = command_of_entry(entry.value);
  if (!words.empty()) words.erase(words.begin());
  return words;
}

const HostEntry* other_with(const EntryFate& fate, const std::vector<HostEntry>& entries,
                            const std::vector<EntryFate>& fates) {
  const auto found = std::ranges::find_if(entries, [&](const HostEntry& other) {
    return &other != fate.entry && arguments_then(other, fates) == fate.arguments;
  });
  return found == entries.end() ? nullptr : &*found;
}

// A host has two servers where it has two entries: nobody but the user knows that one would do.
void leave_shared(const std::vector<HostEntry>& entries, std::vector<EntryFate>& fates) {
  const auto before = fates;
  for (auto& fate : fates) {
    if (fate.arguments.empty()) continue;
    const auto* other = other_with(fate, entries, before);
    if (other == nullptr) continue;
    fate.why_it_stays = fmt::format("it and {} would both become cellblock's server \"{}\"",
                                    path_text(other->path), fate.arguments.back());
    fate.arguments.clear();
  }
}

}  // namespace

std::vector<EntryFate> fates_of(const std::vector<HostEntry>& entries,
                                const std::vector<OwnServer>& servers, const std::string& here,
                                const MachineView& machine) {
  std::vector<EntryFate> fates;
  for (const auto& entry : entries) {
    if (is_cellblock(entry.value)) continue;
    const auto line = line_of(entry, here, machine);
    fates.push_back(line ? fate_of(entry, *line, servers)
                         : EntryFate{.entry = &entry, .why_it_stays = line.error().text});
  }
  leave_shared(entries, fates);
  return fates;
}

std::string path_text(const std::vector<std::string>& path) {
  return fmt::format("{}", fmt::join(path, "."));
}

}  // namespace cellblock::cli
