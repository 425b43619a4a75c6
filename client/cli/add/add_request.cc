#include "client/cli/add/add_request.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iterator>

#include "client/cli/add/added_files.h"
#include "client/cli/add/origin.h"
#include "client/cli/common/admin_sockets.h"
#include "client/cli/import/propose/machine_view.h"
#include "client/cli/import/propose/propose.h"
#include "client/cli/import/read/bounded_file.h"
#include "client/cli/import/read/container_run.h"
#include "client/cli/import/read/declared_server.h"
#include "client/cli/import/read/input_json.h"
#include "client/cli/import/read/package_run.h"
#include "client/cli/import/read/secret_guess.h"
#include "client/cli/import/remote/remote_address.h"
#include "client/cli/import/remote/remote_server.h"
#include "client/cli/programs/program_start.h"
#include "client/cli/terminal/terminal_text.h"
#include "policy/config/names.h"
#include "policy/sandbox/environment_rules.h"

namespace cellblock::cli {
namespace {

namespace fs = std::filesystem;

// NAME=VALUE, or NAME alone for what our own environment says.
Result<DeclaredVariable> given_by(const char* option, const std::string& word) {
  const auto equals = word.find('=');
  if (equals != std::string::npos) {
    return DeclaredVariable{.name = word.substr(0, equals), .value = word.substr(equals + 1)};
  }
  const char* value = std::getenv(word.c_str());  // NOLINT(concurrency-mt-unsafe)
  if (value != nullptr) return DeclaredVariable{.name = word, .value = value};
  return fail(
      fmt::format("{0} {1}: {1} is not in your environment; allowed: NAME=VALUE, or the "
                  "name of a variable that you have",
                  option, safe_line(word)));
}

Result<DeclaredVariable> variable_of(const std::string& word) {
  const auto name = word.substr(0, word.find('='));
  if (is_variable_name(name)) return given_by("--env", word);
  return fail(fmt::format(
      "--env {}: {}; allowed: NAME=VALUE or NAME, a name being letters, digits and _, and no digit "
      "first",
      safe_line(name), name.empty() ? "it has no name" : "it is no name of a variable"));
}

// The user for whom root works, or who works.
std::string usual_user() {
  if (::geteuid() != 0) return user_name(::geteuid());
  return environment_variable("SUDO_USER");
}

bool is_given(const AddedServer& added, const std::string& name) {
  return std::ranges::find(added.declared.variables, name, &DeclaredVariable::name) !=
         added.declared.variables.end();
}

// What --env says of one comes before what its line says.
Result<void> add_container_variables(AddedServer& added) {
  const auto parsed = CELLBLOCK_TRY(container_run(added.declared.command));
  if (!parsed) return {};
  auto run = *parsed;
  for (const auto& file : run.environment_files) {
    read_environment_file(CELLBLOCK_TRY(bounded_file(file, max_import_bytes)), run);
  }
  for (const auto& variable : run.variables) {
    if (!is_given(added, variable.name)) added.declared.variables.push_back(variable);
  }
  for (const auto& name : run.inherited) {
    if (!is_given(added, name))
      added.declared.variables.push_back(CELLBLOCK_TRY(variable_of(name)));
  }
  return {};
}

// The line of a file, which is perhaps a stranger's, names no file of ours, and gets the value of a
// variable of ours where that is named.
Result<void> add_imported_variables(AddedServer& added) {
  const auto run = CELLBLOCK_TRY(container_run(added.declared.command));
  if (!run) return {};
  if (!run->environment_files.empty()) {
    return fail(
        "--env-file is not read for the line of a file: name its variables under env, and "
        "add them with --env");
  }
  for (const auto& variable : run->variables) {
    if (!is_given(added, variable.name)) added.declared.variables.push_back(variable);
  }
  for (const auto& name : run->inherited) {
    if (is_given(added, name)) continue;
    added.declared.variables.push_back({.name = name, .value = "${" + name + "}", .secret = true});
  }
  return {};
}

enum class AddressBy : std::uint8_t { typed, file };

// A file, which is perhaps a stranger's, gets no variable of ours that is not named.
Result<std::string> open_value(const std::string& name, AddressBy by) {
  if (by == AddressBy::typed) return CELLBLOCK_TRY(variable_of(name)).value;
  return fail(fmt::format("it needs {0}: --env {0} (before the --) takes it from your environment",
                          safe_line(name)));
}

// What its headers were left to be filled in with, and the address that whoever types it means.
Result<void> add_remote(AddedServer& added, AddressBy by) {
  if (!is_remote(added.declared)) return {};
  if (by == AddressBy::file) CELLBLOCK_CHECK(check_hosts_of_options(added.declared));
  added.declared = CELLBLOCK_TRY(as_remote(std::move(added.declared)));
  for (auto& variable : added.declared.variables) {
    if (variable.value != "${" + variable.name + "}") continue;
    variable.value = CELLBLOCK_TRY(open_value(variable.name, by));
  }
  const auto run = CELLBLOCK_TRY(package_run(added.declared.command));
  const auto address = CELLBLOCK_TRY(remote_address(address_in(*run)));
  auto meant = added.egress;
  if (auto range = private_range(address); by == AddressBy::typed && !range.empty()) {
    meant.push_back(std::move(range));
  }
  added.declared.named_ranges = for_any_host(meant);
  CELLBLOCK_CHECK(rules_for(address, added.declared.named_ranges));
  return {};
}

}  // namespace

Result<std::vector<std::string>> users_of(const std::vector<std::string>& named,
                                          const AddPlaces& places) {
  const auto usual = usual_user();
  if (places.mode == Mode::user && !named.empty()) {
    return fail("--allow is for the system's cellblock: your own serves you alone");
  }
  if (places.mode == Mode::user) return std::vector<std::string>{usual};
  if (!named.empty()) return named;
  if (!usual.empty()) return std::vector<std::string>{usual};
  return fail("say who may use it: --allow USER, once for each");
}

namespace {

// A file says more than its line: the server takes its place, under the name that it is to have.
Result<void> add_described(const AddRequest& request, const AskSetting& ask, AddedServer& added) {
  DescribedFile file{
      .path = request.command.front(), .variables = added.declared.variables, .ask = ask};
  for (const auto& word : request.settings) {
    const auto setting = CELLBLOCK_TRY(given_by("--set", word));
    file.given.push_back(setting.name + "=" + setting.value);
  }
  auto described = CELLBLOCK_TRY(described_server(file));
  std::erase_if(described.variables, [&](const auto& one) { return is_given(added, one.name); });
  std::ranges::move(added.declared.variables, std::back_inserter(described.variables));
  described.name = request.server;
  added.declared = std::move(described);
  return {};
}

// A file that is meant and is none would be looked for as a program.
Result<void> refuse_missing_description(const std::vector<std::string>& command) {
  if (command.size() != 1 || is_described_file(command)) return {};
  const auto& file = command.front();
  const bool is_bundle = file.ends_with(".mcpb") || file.ends_with(".dxt");
  if (!is_bundle && !file.ends_with(".json")) return {};
  std::error_code ignored;
  const bool is_there = fs::exists(file, ignored);
  return fail(fmt::format(
      "{}: {}; allowed: the path of a bundle (.mcpb) or of a server.json", safe_line(file),
      is_there ? "it is no such file, or cannot be read by you" : "there is no such file"));
}

}  // namespace

Result<AddedServer> added_server(const AddRequest& request, const AddPlaces& places,
                                 const AskSetting& ask) {
  std::error_code ignored;
  const auto here = fs::current_path(ignored).string();
  CELLBLOCK_CHECK(refuse_missing_description(request.command));
  CELLBLOCK_CHECK(check_relative_paths(request.command, here, this_machine()));
  AddedServer added{
      .declared = {.name = request.server,
                   .command = with_whole_paths(request.command, here, this_machine())},
      .read = request.read,
      .write = request.write,
      .egress = request.egress,
      .private_addresses = {.any = true},
      .home = environment_variable("HOME")};
  for (auto& path : added.read) path = fs::absolute(path, ignored).lexically_normal().string();
  for (auto& path : added.write) path = fs::absolute(path, ignored).lexically_normal().string();
  for (const auto& word : request.environment) {
    added.declared.variables.push_back(CELLBLOCK_TRY(variable_of(word)));
  }
  // Once: whoever may change the file decides nothing by it afterwards.
  added.is_described = is_described_file(request.command);
  if (!added.is_described && !request.settings.empty()) {
    return fail("--set is for a file that describes its server: a bundle, or a server.json");
  }
  CELLBLOCK_CHECK(added.is_described ? add_described(request, ask, added)
                                     : add_container_variables(added));
  CELLBLOCK_CHECK(add_remote(added, added.is_described ? AddressBy::file : AddressBy::typed));
  added.users = CELLBLOCK_TRY(users_of(request.users, places));
  return added;
}

Result<AddedServer> imported_server(const DeclaredServer& declared, const ImportedAccess& access) {
  if (!declared.obstacle.empty()) return fail(declared.obstacle);
  AddedServer added{.declared = CELLBLOCK_TRY(as_remote(declared)), .users = access.users};
  added.declared.named_ranges = named_ranges(access.ranges, declared.name);
  added.private_addresses.named = added.declared.named_ranges;
  added.declared.name = server_name_for(declared.name);
  std::error_code ignored;
  const auto here =
      declared.directory.empty() ? fs::current_path(ignored).string() : declared.directory;
  if (!declared.bundle) {
    added.declared.command = with_whole_paths(added.declared.command, here, this_machine());
  }
  added.declared.directory.clear();
  CELLBLOCK_CHECK(add_imported_variables(added));
  for (auto& variable : added.declared.variables) {
    if (!is_placeholder(variable.value)) continue;
    const bool is_named =
        std::ranges::find(access.environment, variable.name) != access.environment.end();
    variable.secret = true;
    variable.value = is_named ? environment_variable(variable.name.c_str()) : std::string();
  }
  return added;
}

namespace {

bool declares_server(const std::string& file, const std::string& server) {
  const auto text = bounded_file(file, max_import_bytes);
  if (!text) return false;
  const auto whole = json_of_toml(*text);
  return whole && object_member(*whole, "server").contains(server);
}

// The file of the configuration that declares a server of this name; empty: none. What cannot be
// read is left to the check of the whole configuration.
std::string declaring_file(const AddPlaces& places, const std::string& server) {
  if (declares_server(places.main_file, server)) return places.main_file;
  std::error_code ignored;
  auto own = declaration_of(places, server);
  if (fs::exists(own, ignored)) return own;
  for (const auto& entry : fs::directory_iterator(places.declarations, ignored)) {
    auto file = entry.path().string();
    if (file.ends_with(".toml") && declares_server(file, server)) return file;
  }
  return {};
}

}  // namespace

Result<void> refuse_name(const AddPlaces& places, const std::string& server) {
  if (!is_short_name(server)) {
    return fail(
        fmt::format("\"{}\" is no name of a server; allowed: small letters, digits and -, "
                    "beginning with a letter",
                    safe_line(server)));
  }
  const auto path = declaring_file(places, server);
  if (path.empty()) return {};
  const auto way_out =
      was_added(places, server)
          ? fmt::format("`cellblock update {0}` or `cellblock remove {0}`", server)
          : fmt::format("choose another name, or remove [server.{}] there", server);
  return fail(
      fmt::format("\"{}\" is declared already, in {}: {}", server, safe_line(path), way_out));
}

}  // namespace cellblock::cli
