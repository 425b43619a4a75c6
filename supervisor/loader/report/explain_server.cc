#include "supervisor/loader/report/explain_server.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "policy/base/printable.h"
#include "policy/base/units.h"
#include "policy/config/names.h"
#include "policy/egress/egress_rule.h"
#include "policy/flows/rule_match.h"
#include "policy/flows/tool_labels.h"
#include "policy/sandbox/source_access.h"
#include "policy/sandbox/weakenings.h"
#include "policy/syscalls/syscall_policy.h"
#include "supervisor/loader/report/run_identity.h"

namespace cellblock {
namespace {

using Json = nlohmann::ordered_json;
using Sentences = std::vector<std::string>;

std::string listed(const Sentences& words) { return fmt::format("{}", fmt::join(words, ", ")); }

// The sentence about access to the files that the server sees.
std::string file_rights(const Server& server) {
  const RunAs& run_as = server.run_as;
  switch (run_as.kind) {
    case RunAsKind::client:
      return fmt::format(", the connecting user: it can do to the files below what that user can{}",
                         run_as.reason.empty() ? "" : fmt::format(" ({})", run_as.reason));
    case RunAsKind::named:
      return ", whoever connects";
    case RunAsKind::own:
      break;
  }
  return server.owner_mounts.empty() ? ", a stranger to all files below"
                                     : ", whose files are read and written as that client's";
}

std::string identity_of(const Server& server, RunMode mode) {
  const bool is_maybe_yourself = mode == RunMode::user && server.run_as.kind == RunAsKind::own;
  return fmt::format("for the host's kernel it runs as {}{}", run_identity(server, mode),
                     is_maybe_yourself ? "" : file_rights(server));
}

std::string start_place(const Server& server) {
  return server.working_directory.empty() ? std::string()
                                          : fmt::format(" (in {})", server.working_directory);
}

Sentences runs(const Server& server, RunMode mode) {
  return {fmt::format("{}{}", fmt::join(server.command, " "), start_place(server)),
          identity_of(server, mode),
          "it has no capability, and sees no process but those of its own cell",
          server.cells == CellSharing::per_user ? "all sessions of a user share one cell"
                                                : "each session has a cell of its own"};
}

std::vector<std::uint32_t> owners_of(const Server& server, std::size_t bind) {
  std::vector<std::uint32_t> owners;
  for (const OwnerMount& mount : server.owner_mounts) {
    if (mount.bind == bind) owners.push_back(mount.uid);
  }
  return owners;
}

// The identity of a cell for the configuration alone: a user who owns none of the paths.
CellClient any_user(const Config& config) { return {config.identity.uid, config.identity.gid}; }

std::string refusal_text(const Server& server, std::size_t bind, const Config& config,
                         const AccountNames& names) {
  if (server.run_as.kind == RunAsKind::client) return {};  // it depends on whom
  const SourceAccess access = source_access(server, bind, any_user(config), config.identity);
  if (access.allowed) return {};
  std::string no = fmt::format("; {}; remedy: {}", access.problem, access.remedy);
  const auto owners = owners_of(server, bind);
  if (owners.empty()) return no;
  Sentences who;
  for (const std::uint32_t uid : owners) who.push_back(names.user(uid));
  return fmt::format(", for {} alone, whose it stays", listed(who));
}

std::string sentence_of(const Server& server, std::size_t bind, const Config& config,
                        const AccountNames& names) {
  const Bind& declared = server.binds[bind];
  return fmt::format(
      "{} {}{}{}", declared.access == Access::write ? "reads and writes" : "reads", declared.source,
      declared.target == declared.source ? ""
                                         : fmt::format(", which it sees as {}", declared.target),
      refusal_text(server, bind, config, names));
}

std::string root_of(const Server& server) {
  if (server.image.empty()) {
    return "reads the host's programs and libraries (/usr, /bin, /sbin, /lib*); of /etc only files "
           "that are made for it, certificates and alternatives";
  }
  return fmt::format(
      "reads the image {} in place of the host's programs and libraries; of its /etc all but the "
      "files that are made for a cell",
      server.image);
}

Sentences files(const Server& server, const Config& config, const AccountNames& names) {
  Sentences sentences{root_of(server)};
  for (std::size_t i = 0; i < server.binds.size(); ++i) {
    sentences.push_back(sentence_of(server, i, config, names));
  }
  if (server.workspace) {
    sentences.push_back(
        fmt::format("{} the directory that a session passes in, as {}, if it is one of {}",
                    server.workspace->access == Access::write ? "reads and writes" : "reads",
                    workspace_directory, listed(server.workspace->allow)));
  }
  sentences.push_back(server.home == HomeKind::persistent
                          ? "keeps a home directory of its own for each user from cell to cell"
                          : fmt::format("has a home directory of {} that ends with the cell",
                                        size_text(server.limits.home_bytes)));
  sentences.push_back(
      fmt::format("has a /tmp of its own, of {}", size_text(server.limits.tmp_bytes)));
  sentences.emplace_back(server.execute_writable ? "may execute what it can write"
                                                 : "executes no file that it can write");
  return sentences;
}

Sentences egress(const Egress& egress) {
  Sentences rules;
  rules.reserve(egress.allow.size());
  for (const EgressRule& rule : egress.allow) rules.push_back(text_of(rule));
  Sentences sentences{
      rules.empty() ? "reaches nothing: egress allows no name" : "reaches only " + listed(rules),
      fmt::format("at most {} connections of one cell at one time", egress.max_connections)};
  if (egress.max_bytes) {
    sentences.push_back(
        fmt::format("at most {} of one cell, both ways", size_text(*egress.max_bytes)));
  }
  if (egress.proxy_port) {
    sentences.push_back(fmt::format("has a proxy on 127.0.0.1:{} in the cell", *egress.proxy_port));
  }
  return sentences;
}

Sentences network(const Server& server) {
  switch (server.network) {
    case NetworkMode::none:
      return {"none: no name exists for it, and it can make no TCP connection"};
    case NetworkMode::loopback:
      return {"only processes of its own cell"};
    case NetworkMode::egress:
      return egress(server.egress);
    case NetworkMode::host:
      break;
  }
  return {
      "the host's own network, without bounds: all that this machine reaches, its local "
      "services too"};
}

Sentences system_calls(const SyscallRules& rules) {
  Sentences sentences{
      fmt::format("those of the profile \"{}\"{}", profile_name(rules),
                  profile_name(rules) == name_of(rules.base)
                      ? ""
                      : fmt::format(", which is made from \"{}\"", name_of(rules.base)))};
  if (!rules.allow.empty()) sentences.push_back("besides them " + listed(rules.allow));
  if (!rules.refuse.empty()) sentences.push_back("but not " + listed(rules.refuse));
  sentences.push_back(written_code(rules) == WriteExec::allowed
                          ? "may run code that it has written into memory"
                          : "runs no code that it has written into memory");
  return sentences;
}

Sentences variables(const Server& server) {
  Sentences sentences;
  for (const auto& variable : server.environment) sentences.push_back(variable.name);
  if (sentences.empty()) return {"none but what every cell has"};
  return {listed(sentences)};
}

std::string sentence_of(const SecretVariable& secret) {
  switch (secret.delivery) {
    case SecretDelivery::file:
      return fmt::format("{}, as the file {}/{}", secret.name, secrets_directory, secret.name);
    case SecretDelivery::memfd:
      return fmt::format("{}, in memory behind {}_FD", secret.name, secret.name);
    case SecretDelivery::environment:
      break;
  }
  return fmt::format("{}, as a variable", secret.name);
}

Sentences secrets(const Server& server) {
  Sentences sentences;
  for (const auto& secret : server.secrets) sentences.push_back(sentence_of(secret));
  return sentences.empty() ? Sentences{"none"} : sentences;
}

Sentences limits(const Limits& limits) {
  Sentences words{fmt::format("{} processes", limits.pids),
                  fmt::format("{} open files", limits.open_files)};
  const auto add = [&](const char* what, const std::optional<std::uint64_t>& bytes) {
    if (bytes) words.push_back(fmt::format("{} {}", size_text(*bytes), what));
  };
  add("of memory", limits.memory_bytes);
  if (limits.cpu) words.push_back(fmt::format("{} processors", *limits.cpu));
  add("a second read from disks", limits.io_read);
  add("a second written to disks", limits.io_write);
  add("in one file", limits.file_bytes);
  Sentences sentences{"at most " + listed(words)};
  if (!limits.memory_bytes) sentences.emplace_back("memory is not limited");
  if (!limits.cpu) sentences.emplace_back("processor time is not limited");
  return sentences;
}

Sentences questions(const ClientFeatures& features) {
  Sentences sentences;
  if (features.roots) sentences.emplace_back("asks the host which directories it works on (roots)");
  if (features.sampling) sentences.emplace_back("asks the host's model (sampling)");
  if (features.elicitation) sentences.emplace_back("asks the user (elicitation)");
  return sentences.empty() ? Sentences{"asks the host and its user nothing"} : sentences;
}

std::string whom(const Rule& rule, const std::vector<Role>& roles, const AccountNames& names) {
  if (rule.binds_everybody) return "everybody";
  Sentences words;
  for (const auto uid : rule.uids) words.push_back("user " + names.user(uid));
  for (const auto gid : rule.gids) words.push_back("group " + names.group(gid));
  for (std::size_t i = 0; i < roles.size() && i < max_roles; ++i) {
    if ((rule.roles >> i & 1U) != 0) words.push_back("role " + roles[i].name);
  }
  return words.empty() ? "nobody" : listed(words);
}

Sentences callers(const DeclaredServer& declared, const Config& config, const AccountNames& names) {
  Sentences sentences;
  for (const Rule& rule : declared.server.rules) {
    sentences.push_back(fmt::format("{}: {} ({})", whom(rule, config.roles, names), text_of(rule),
                                    place_of(declared, rule)));
  }
  if (sentences.empty()) return {"nobody: no rule gives anything"};
  sentences.emplace_back("the strictest that applies decides; nothing else is given");
  return sentences;
}

Sentences weakened(const Server& server, const Cgroup& cgroup) {
  auto sentences = weakenings_of(server, cgroup);
  return sentences.empty() ? Sentences{"in nothing"} : sentences;
}

// The weakenings of the whole installation, in the words of `--check`.
Sentences installation(const Config& config) {
  Sentences sentences;
  for (const auto& weakening : weakenings_of(config)) sentences.push_back("weakened: " + weakening);
  return sentences.empty() ? Sentences{"weakened in nothing"} : sentences;
}

// The flow labels: what a call brings to an agent, and what it can send out. See docs/flows.md.
Sentences flows(const Server& server, const FlowRules& rules) {
  Sentences sentences;
  for (const auto label :
       {FlowLabel::untrusted, FlowLabel::private_data, FlowLabel::egress, FlowLabel::destructive}) {
    sentences.push_back(fmt::format("{}: {}", name_of(label), label_sentence(server, label)));
  }
  for (const FlowRule& rule : rules.rules) {
    if (!names_server(rule, server.name)) continue;
    sentences.push_back(
        fmt::format("{} (line {} of the main file) {}", rule.name, rule.line, rule_text(rule)));
  }
  return sentences;
}

struct Topic {
  const char* name;
  Sentences sentences;
};

// A configuration file has at most 1 MiB, so no text is cut.
constexpr std::size_t whole = std::size_t{1} << 24;

std::string text_of(const Topic& topic) {
  std::string text;
  for (const auto& sentence : topic.sentences) {
    text +=
        fmt::format("  {:<13} {}\n", text.empty() ? topic.name : "", printable(sentence, whole));
  }
  return text;
}

// "who_may_call"
std::string member_of(const Topic& topic) {
  std::string name = topic.name;
  std::ranges::replace(name, ' ', '_');
  return name;
}

}  // namespace

Explanation explain_server(const DeclaredServer& declared, const Config& config,
                           const AccountNames& names) {
  const Server& server = declared.server;
  const std::vector<Topic> topics{{"runs", runs(server, config.mode)},
                                  {"files", files(server, config, names)},
                                  {"network", network(server)},
                                  {"system calls", system_calls(server.syscalls)},
                                  {"variables", variables(server)},
                                  {"secrets", secrets(server)},
                                  {"limits", limits(server.limits)},
                                  {"questions", questions(server.client_features)},
                                  {"flows", flows(server, config.flows)},
                                  {"who may call", callers(declared, config, names)},
                                  {"weakened", weakened(server, config.cgroup)},
                                  {"installation", installation(config)}};
  std::string text =
      fmt::format("{}: what it can see and do, as {} declares it\n", server.name, declared.file);
  Json json = Json::object();
  json["server"] = server.name;
  json["file"] = declared.file;
  for (const Topic& topic : topics) {
    text += text_of(topic);
    json[member_of(topic)] = topic.sentences;
  }
  return {.effect = Effect::allow,
          .text = std::move(text),
          .json = json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"};
}

}  // namespace cellblock
