#include "policy/config_check/facts_wanted.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "policy/config/path_rules.h"
#include "policy/config_check/secret_check.h"
#include "policy/sandbox/workspace_match.h"

namespace cellblock {

Result<CgroupChoice> parse_cgroup_choice(std::string_view text) {
  if (text == "auto") return CgroupChoice{};
  if (text == "none") return CgroupChoice{.way = CgroupChoice::Way::none, .path = {}};
  std::string path(text);
  if (const auto problem = path_problem(path)) {
    return fail(
        fmt::format("{}; allowed: \"auto\", \"none\", or the whole path of a group, with "
                    "the mount it is in, like \"/sys/fs/cgroup/cellblock\"",
                    *problem));
  }
  return CgroupChoice{.way = CgroupChoice::Way::path, .path = std::move(path)};
}

namespace {

// That are looked up; more are hardly paths by intent.
constexpr std::size_t most_looked_at = 64;
constexpr std::size_t most_path_variables = 64;

void want_name(const IdText& id, std::set<std::string>& names) {
  if (const auto* name = std::get_if<std::string>(&id)) names.insert(*name);
}

void want_name(const Maybe<IdText>& id, std::set<std::string>& names) {
  if (id) want_name(id->value, names);
}

void want_names(const IdList& ids, std::set<std::string>& names) {
  for (const auto& id : ids) want_name(id.value, names);
}

void want_admins(const IdList& admins, FactsWanted& wanted) {
  for (const auto& admin : admins) {
    if (const auto group = admin_group(admin.value)) {
      wanted.groups.insert(*group);
      wanted.member_groups.insert(*group);
    } else {
      want_name(admin.value, wanted.users);
    }
  }
}

void want_binds(const TextList& texts, Access access, std::vector<Bind>& binds) {
  for (const TextAt& text : texts) {
    if (auto bind = parse_bind(text.value, access)) binds.push_back(std::move(*bind));
  }
}

void want_home_files(const ServerText& server, std::vector<Bind>& binds) {
  for (const VariableText& file : server.home_files) {
    if (home_name_problem(file.name.value) || path_problem(file.value.value)) continue;
    binds.push_back(
        {file.value.value, fmt::format("{}/{}", home_in_cell, file.name.value), Access::read});
  }
}

void want_path(const std::string& path, std::set<std::string>& paths) {
  if (!path_problem(path)) paths.insert(path);
}

void want_secrets(const std::vector<SecretText>& secrets, FactsWanted& wanted) {
  for (const SecretText& secret : secrets) {
    if (secret.file) want_path(secret.file->value, wanted.secrets);
    if (secret.credential && !credential_problem(secret.credential->value)) {
      wanted.credentials.insert(secret.credential->value);
    }
    if (!secret.command || secret.command->value.empty()) continue;
    want_path(secret.command->value.front().value, wanted.secret_commands);
  }
}

void want_number(const IdText& id, std::set<std::uint32_t>& numbers) {
  const auto* number = std::get_if<std::int64_t>(&id);
  if (number == nullptr || *number < 0 || *number > UINT32_MAX) return;
  numbers.insert(static_cast<std::uint32_t>(*number));
}

// With "auto", the default, declared paths and workspaces may need it.
bool may_run_as_client(const ServerText& server) {
  if (server.run_as && server.run_as->value != IdText("auto")) {
    return server.run_as->value == IdText("client");
  }
  return !server.read.empty() || !server.write.empty() || !server.home_files.empty() ||
         server.workspace;
}

/// Whether somebody is to be run as them.
enum class ForWhom { none, client };

void want_people(const IdList& users, const IdList& groups, ForWhom purpose, FactsWanted& wanted) {
  want_names(users, wanted.users);
  want_names(groups, wanted.groups);
  if (purpose == ForWhom::none) return;
  for (const auto& user : users) want_number(user.value, wanted.uids);
  for (const auto& group : groups) {
    want_name(group.value, wanted.member_groups);
    want_number(group.value, wanted.member_gids);
  }
}

// Any server that may run as its client may give something to a role.
void want_roles(std::span<const ConfigText> files, FactsWanted& wanted) {
  const bool any_client = std::ranges::any_of(files, [](const ConfigText& file) {
    return std::ranges::any_of(file.servers, may_run_as_client);
  });
  for (const ConfigText& file : files) {
    for (const RoleText& role : file.roles) {
      want_people(role.users, role.groups, any_client ? ForWhom::client : ForWhom::none, wanted);
    }
  }
}

void want_identity(const ServerText& server, FactsWanted& wanted) {
  if (server.run_as) {
    want_name(server.run_as->value, wanted.users);
    want_number(server.run_as->value, wanted.uids);
  }
  const ForWhom purpose = may_run_as_client(server) ? ForWhom::client : ForWhom::none;
  if (server.allow) want_people(server.allow->users, server.allow->groups, purpose, wanted);
  for (const RuleText& rule : server.rules) {
    want_people(rule.users ? rule.users->value : IdList{},
                rule.groups ? rule.groups->value : IdList{}, purpose, wanted);
  }
}

std::string image_of(const ServerText& server) {
  const bool is_sound = server.image && !path_problem(server.image->value);
  return is_sound ? server.image->value : std::string();
}

void want_image(const ServerText& server, FactsWanted& wanted) {
  const std::string image = image_of(server);
  if (image.empty()) return;
  wanted.images.insert(image);
  wanted.sources.insert(image);
}

void want_program(const ServerText& server, std::vector<Bind>& binds, FactsWanted& wanted) {
  if (!server.program || path_problem(server.program->value)) return;
  const std::string& path = server.program->value;
  wanted.programs.insert(path);
  if (host_path_of(path, binds, image_of(server)) != path) {
    binds.push_back({path, path, Access::read});
  }
}

void want_workspace(const ServerText& server, FactsWanted& wanted) {
  if (!server.workspace) return;
  for (const TextAt& pattern : server.workspace->allow) {
    if (!pattern_problem(pattern.value)) wanted.sources.insert(static_prefix(pattern.value));
  }
}

bool is_option_word(const TextAt& part) { return part.value.starts_with('-'); }

void want_arguments(const TextList& parts, CommandWanted& command) {
  for (std::size_t i = 1; i < parts.size() && command.arguments.size() < most_looked_at; ++i) {
    const std::string& part = parts[i].value;
    if (part.starts_with('/') && !path_problem(part)) command.arguments.push_back(part);
  }
  const auto script = std::find_if_not(parts.begin() + 1, parts.end(), is_option_word);
  if (script != parts.end() && script->value.starts_with('/')) command.script = script->value;
}

void want_variables(const std::vector<VariableText>& variables, CommandWanted& command) {
  for (const VariableText& variable : variables) {
    const std::string& value = variable.value.value;
    if (!value.starts_with('/') || path_problem(value)) continue;
    if (command.variables.size() == most_path_variables) return;
    command.variables.push_back({variable.name.value, value});
  }
}

void want_server(const ServerText& server, FactsWanted& wanted) {
  std::vector<Bind> binds;
  want_binds(server.read, Access::read, binds);
  want_binds(server.write, Access::write, binds);
  want_program(server, binds, wanted);
  want_home_files(server, binds);
  want_image(server, wanted);
  for (const Bind& bind : binds) wanted.sources.insert(bind.source);
  want_workspace(server, wanted);
  want_secrets(server.env_from_file, wanted);
  want_secrets(server.secret_files, wanted);
  want_secrets(server.secret_memfds, wanted);
  want_identity(server, wanted);
  if (!server.command || server.command->value.empty()) return;
  const std::string& path = server.command->value.front().value;
  if (path_problem(path)) return;
  const auto digest = server.sha256 ? DigestWanted::yes : DigestWanted::no;
  CommandWanted command{path, std::move(binds), image_of(server), digest, {}, {}, {}};
  want_arguments(server.command->value, command);
  want_variables(server.env, command);
  wanted.commands.try_emplace(server.name.value, std::move(command));
}

void want_http(const ConfigText& file, FactsWanted& wanted) {
  if (!file.http) return;
  want_name(file.http->keys.id("group"), wanted.groups);
  for (const Written& token : file.http->tokens) {
    const auto path = token.text("file");
    if (path && !path_problem(path->value)) wanted.tokens.insert(path->value);
    const auto user = token.id("user");
    if (!user) continue;
    want_name(user->value, wanted.users);
    want_name(user->value, wanted.token_users);
    want_number(user->value, wanted.uids);
    want_number(user->value, wanted.token_uids);
  }
}

// What is no choice is complained about by the check.
CgroupChoice cgroup_of(std::span<const ConfigText> files) {
  if (files.empty()) return {};
  const auto wish = files.front().daemon.text("cgroup");
  return wish ? parse_cgroup_choice(wish->value).value_or(CgroupChoice{}) : CgroupChoice{};
}

}  // namespace

std::optional<std::string> admin_group(const IdText& text) {
  const auto* name = std::get_if<std::string>(&text);
  if (name == nullptr || !name->starts_with('%')) return std::nullopt;
  return name->substr(1);
}

FactsWanted facts_wanted(std::span<const ConfigText> files) {
  FactsWanted wanted;
  wanted.users.insert(default_account);
  wanted.groups.insert(default_account);
  wanted.cgroup = cgroup_of(files);
  for (const ConfigText& file : files) {
    want_name(file.daemon.id("user"), wanted.users);
    if (const auto admins = file.daemon.get<IdList>("admins")) want_admins(admins->value, wanted);
    want_name(file.daemon.id("group"), wanted.groups);
    want_name(file.socket.id("group"), wanted.groups);
    want_http(file, wanted);
    for (const ServerText& server : file.servers) want_server(server, wanted);
  }
  want_roles(files, wanted);
  return wanted;
}

}  // namespace cellblock
