#include "tests/unit/host_of_toml.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <stdexcept>
#include <string>

namespace cellblock {
namespace {

// Each take() erases what it took: what is left is a mistake.
class Table {
 public:
  explicit Table(toml::table table) : table_(std::move(table)) {}
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  template <class T>
  void take(std::string_view key, T& out) {
    const auto found = table_.find(key);
    if (found == table_.end()) return;
    out = value<T>(found->second);
    table_.erase(found);
  }

  template <class Use>
  void each(std::string_view key, Use use) {
    const auto found = table_.find(key);
    if (found == table_.end()) return;
    for (const auto& [name, node] : *found->second.as_table()) use(std::string(name.str()), node);
    table_.erase(found);
  }

  toml::table& rest() { return table_; }

  void end() const {
    if (!table_.empty()) {
      throw std::runtime_error(fmt::format("unknown: {}", table_.begin()->first.str()));
    }
  }

  template <class T>
  static T value(const toml::node& node) {
    if constexpr (std::is_enum_v<T>) {
      return static_cast<T>(node.value<std::int64_t>().value());
    } else if constexpr (requires { typename T::value_type; } && !std::is_same_v<T, std::string>) {
      T list;
      for (const auto& one : *node.as_array()) {
        list.insert(list.end(), value<typename T::value_type>(one));
      }
      return list;
    } else {
      return node.value<T>().value();
    }
  }

 private:
  toml::table table_;
};

template <class T>
T word(const toml::node& node, std::initializer_list<std::pair<std::string_view, T>> words) {
  const std::string text = node.value<std::string>().value();
  for (const auto& [name, value] : words) {
    if (name == text) return value;
  }
  throw std::runtime_error("no such word: " + text);
}

template <class T>
void take_word(Table& table, std::string_view key, T& out,
               std::initializer_list<std::pair<std::string_view, T>> words) {
  const auto found = table.rest().find(key);
  if (found == table.rest().end()) return;
  out = word<T>(found->second, words);
  table.rest().erase(found);
}

PathKind kind_of(const toml::node& node) {
  return word<PathKind>(node, {{"missing", PathKind::missing},
                               {"directory", PathKind::directory},
                               {"file", PathKind::file},
                               {"other", PathKind::other}});
}

void take_kind(Table& table, PathKind& out) {
  const auto* node = table.rest().get("kind");
  if (node == nullptr) return;
  out = kind_of(*node);
  table.rest().erase("kind");
}

PathRights rights_of(const std::string& text) {
  return {.read = text.contains('r'), .write = text.contains('w')};
}

SourceOwnership ownership_of(const toml::node& node) {
  Table table(*node.as_table());
  SourceOwnership ownership{.known = true};
  table.take("uid", ownership.uid);
  table.take("gid", ownership.gid);
  table.take("mode", ownership.mode);
  table.take("owner", ownership.owner);
  std::string of_owner = "rw";
  std::string of_group;
  std::string of_stranger;
  table.take("of_owner", of_owner);
  table.take("of_group", of_group);
  table.take("of_stranger", of_stranger);
  table.end();
  ownership.of_owner = rights_of(of_owner);
  ownership.of_group = rights_of(of_group);
  ownership.of_stranger = rights_of(of_stranger);
  return ownership;
}

SourceFacts source_of(const std::string& path, const toml::node& node) {
  SourceFacts source{.kind = PathKind::directory, .resolved = path};
  if (node.is_string()) {
    source.kind = kind_of(node);
    return source;
  }
  Table table(*node.as_table());
  take_kind(table, source.kind);
  table.take("resolved", source.resolved);
  table.take("others", source.others);
  table.take("closed", source.is_closed);
  take_word<IdMapping>(table, "id_mapping", source.id_mapping,
                       {{"possible", IdMapping::possible}, {"impossible", IdMapping::impossible}});
  table.take("no_id_mapping", source.no_id_mapping);
  if (const auto* owner = table.rest().get("ownership")) source.ownership = ownership_of(*owner);
  table.rest().erase("ownership");
  table.end();
  return source;
}

CommandFacts command_of(const toml::node& node) {
  Table table(*node.as_table());
  CommandFacts command;
  take_word<CommandState>(table, "state", command.state,
                          {{"not_visible", CommandState::not_visible},
                           {"missing", CommandState::missing},
                           {"directory", CommandState::directory},
                           {"not_a_file", CommandState::not_a_file},
                           {"not_executable", CommandState::not_executable},
                           {"unreadable", CommandState::unreadable}});
  table.take("host_path", command.host_path);
  table.take("unsafe", command.unsafe);
  table.take("sha256", command.sha256);
  bool has_set_id = false;
  table.take("set_id", has_set_id);
  if (has_set_id) command.set_id = SetId::yes;
  if (!command.sha256.empty()) command.stamp = FileStamp{1, 2, 3, 4, 5};
  std::vector<std::string> lost;
  table.take("not_visible_arguments", lost);
  for (const std::string& path : lost) {
    command.lost_arguments.push_back({path, LostArgument::Reason::not_visible});
  }
  lost.clear();
  table.take("missing_arguments", lost);
  for (const std::string& path : lost) command.lost_arguments.push_back({path});
  for (LostArgument& argument : command.lost_arguments) {
    const bool is_missing = std::ranges::find(lost, argument.path) != lost.end();
    if (is_missing) argument.reason = LostArgument::Reason::missing;
  }
  table.end();
  return command;
}

ProgramFacts program_of(const toml::node& node) {
  Table table(*node.as_table());
  ProgramFacts program{.kind = PathKind::directory, .unsafe = {}};
  take_kind(table, program.kind);
  table.take("unsafe", program.unsafe);
  table.end();
  return program;
}

TokenFacts token_of(const toml::node& node) {
  Table table(*node.as_table());
  TokenFacts token;
  std::uint8_t first = 0;
  table.take("first_byte", first);
  token.sha256[0] = first;
  table.take("problem", token.problem);
  table.end();
  return token;
}

SubordinateRange range_of(const toml::node& node) {
  Table table(*node.as_table());
  SubordinateRange range;
  table.take("file", range.file);
  table.take("owner", range.owner);
  table.take("first", range.first);
  table.take("count", range.count);
  table.end();
  return range;
}

GroupMembers members_of(const toml::node& node) {
  Table table(*node.as_table());
  GroupMembers members;
  table.take("unknown", members.unknown);
  std::vector<std::uint32_t> users;
  table.take("users", users);
  for (const std::uint32_t id : users) members.users.push_back({id, id});
  table.end();
  return members;
}

void take_cgroup(Table& host, Cgroup& cgroup) {
  const auto* node = host.rest().get("cgroup");
  if (node == nullptr) return;
  Table table(*node->as_table());
  cgroup = {};
  table.take("directory", cgroup.directory);
  table.take("memory", cgroup.memory);
  table.take("pids", cgroup.pids);
  table.take("cpu", cgroup.cpu);
  table.take("io", cgroup.io);
  table.take("missing_because", cgroup.missing_because);
  table.end();
  host.rest().erase("cgroup");
}

std::uint32_t number_of(const std::string& text) {
  return static_cast<std::uint32_t>(std::stoul(text));
}

void take_accounts(Table& host, HostFacts& facts) {
  host.each("users", [&](const std::string& name, const toml::node& node) {
    const auto ids = Table::value<std::vector<std::uint32_t>>(node);
    facts.users[name] = {ids.at(0), ids.at(1)};
  });
  host.each("groups", [&](const std::string& name, const toml::node& node) {
    facts.groups[name] = Table::value<std::uint32_t>(node);
  });
  host.each("groups_of", [&](const std::string& uid, const toml::node& node) {
    facts.groups_of[number_of(uid)] = Table::value<std::vector<std::uint32_t>>(node);
  });
  host.each("primary_groups", [&](const std::string& uid, const toml::node& node) {
    facts.primary_groups[number_of(uid)] = Table::value<std::uint32_t>(node);
  });
  host.each("members", [&](const std::string& gid, const toml::node& node) {
    facts.members[number_of(gid)] = members_of(node);
  });
  host.take("unused_group_numbers", facts.unused_group_numbers);
  if (const auto* ranges = host.rest().get_as<toml::array>("subordinate_ranges")) {
    for (const auto& range : *ranges) facts.subordinate_ranges.push_back(range_of(range));
    host.rest().erase("subordinate_ranges");
  }
}

void take_files(Table& host, HostFacts& facts) {
  host.each("sources", [&](const std::string& path, const toml::node& node) {
    facts.sources[path] = source_of(path, node);
  });
  host.each("commands", [&](const std::string& server, const toml::node& node) {
    facts.commands[server] = command_of(node);
  });
  host.each("programs", [&](const std::string& path, const toml::node& node) {
    facts.programs[path] = program_of(node);
  });
  host.each("secret_commands", [&](const std::string& path, const toml::node& node) {
    facts.secret_commands[path] = command_of(node);
  });
  host.each("bad_secrets", [&](const std::string& path, const toml::node& node) {
    facts.bad_secrets[path] = Table::value<std::string>(node);
  });
  host.each("bad_credentials", [&](const std::string& name, const toml::node& node) {
    facts.bad_credentials[name] = Table::value<std::string>(node);
  });
  host.each("tokens", [&](const std::string& path, const toml::node& node) {
    facts.tokens[path] = token_of(node);
  });
}

void forget(Table& host, HostFacts& facts) {
  std::vector<std::string> names;
  host.take("no_users", names);
  for (const std::string& name : names) facts.users.erase(name);
  names.clear();
  host.take("no_sources", names);
  for (const std::string& path : names) facts.sources.erase(path);
}

}  // namespace

void add_host(std::string_view text, HostFacts& facts) {
  Table host(toml::parse(text));
  host.take("uid", facts.uid);
  host.take("gid", facts.gid);
  host.take("config_path", facts.config_path);
  host.take("runtime_directory", facts.runtime_directory);
  host.take("state_home", facts.state_home);
  host.take("open_files_hard", facts.open_files_hard);
  host.take("landlock_abi", facts.landlock_abi);
  host.take("credentials_directory", facts.credentials_directory);
  bool has_credentials = true;
  host.take("credentials", has_credentials);
  facts.credentials = has_credentials ? Credentials::looked_at : Credentials::not_here;
  take_cgroup(host, facts.cgroup);
  forget(host, facts);
  take_accounts(host, facts);
  take_files(host, facts);
  host.end();
}

}  // namespace cellblock
