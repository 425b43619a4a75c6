#include "policy/facts_wanted.h"

#include "policy/path_rules.h"

namespace cellblock {
namespace {

void want_name(const IdText& id, std::set<std::string>& names) {
  if (const auto* name = std::get_if<std::string>(&id)) names.insert(*name);
}

void want_names(const IdList& ids, std::set<std::string>& names) {
  for (const auto& id : ids) want_name(id.value, names);
}

void want_binds(const TextList& texts, Access access, std::vector<Bind>& binds) {
  for (const TextAt& text : texts) {
    if (auto bind = parse_bind(text.value, access)) binds.push_back(std::move(*bind));
  }
}

void want_server(const ServerText& server, FactsWanted& wanted) {
  std::vector<Bind> binds;
  want_binds(server.read, Access::read, binds);
  want_binds(server.write, Access::write, binds);
  for (const Bind& bind : binds) wanted.sources.insert(bind.source);
  for (const VariableText& variable : server.env_from_file) {
    if (!path_problem(variable.value.value)) wanted.secrets.insert(variable.value.value);
  }
  if (server.allow) {
    want_names(server.allow->users, wanted.users);
    want_names(server.allow->groups, wanted.groups);
  }
  if (!server.command || server.command->value.empty()) return;
  const std::string& path = server.command->value.front().value;
  if (path_problem(path)) return;
  wanted.commands.try_emplace(server.name.value, CommandWanted{path, std::move(binds)});
}

}  // namespace

FactsWanted facts_wanted(std::span<const ConfigText> files) {
  FactsWanted wanted;
  wanted.users.insert(default_account);
  wanted.groups.insert(default_account);
  for (const ConfigText& file : files) {
    if (file.daemon.user) want_name(file.daemon.user->value, wanted.users);
    if (file.daemon.group) want_name(file.daemon.group->value, wanted.groups);
    if (file.socket.group) want_name(file.socket.group->value, wanted.groups);
    for (const ServerText& server : file.servers) want_server(server, wanted);
  }
  return wanted;
}

}  // namespace cellblock
