#include "supervisor/loader/command/questions.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/access/rights.h"
#include "policy/base/printable.h"
#include "policy/base/suggestion.h"
#include "supervisor/loader/doctor/machine_facts.h"
#include "supervisor/loader/identity/accounts.h"
#include "supervisor/loader/load/config_files.h"
#include "supervisor/loader/report/check_report.h"
#include "supervisor/loader/report/effective_keys.h"
#include "supervisor/loader/report/explain_rights.h"
#include "supervisor/loader/report/explain_server.h"
#include "supervisor/loader/report/key_report.h"
#include "supervisor/os/account_names.h"
#include "supervisor/process/wipe.h"

namespace cellblock::daemon {
namespace {

// Written out at once: the exit code has to tell what a buffer kept back.
bool show(const std::string& text) {
  return std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
}

// The exit codes of `cellblock` (docs/cli.md), which executes this program.
constexpr int exit_usage = 2;
constexpr int exit_refused = 4;
constexpr int exit_asks = 11;
constexpr int exit_left_out = 12;

using Checked = std::expected<LoadedConfig, std::vector<Complaint>>;

// An unusable configuration has no effective keys.
std::string report_of(const Options& options, const Checked& loaded) {
  if (options.is_effective && loaded) return effective_text(loaded->config);
  const auto report = options.is_brief ? &brief_report : &check_report;
  return report(options.config, loaded);
}

int check(const Options& options) {
  auto loaded = load_config({options.config, options.mode, options.socket, LookPurpose::check});
  if (loaded) wipe(loaded->secrets);
  const bool shown = show(report_of(options, loaded));
  if (!loaded || !shown) return 1;
  return broken_parts(loaded->config).empty() ? 0 : exit_left_out;
}

Result<std::uint32_t> uid_of(const std::string& person) {
  if (const auto user = find_user(person)) return user->uid;
  std::uint32_t uid = 0;
  const auto [end, error] = std::from_chars(person.data(), person.data() + person.size(), uid);
  const bool is_number = error == std::errc{} && end == person.data() + person.size();
  if (!is_number) return fail(fmt::format("there is no user \"{}\" here", person));
  return uid;
}

Result<DeclaredServer> server_of(const LoadedConfig& loaded, const std::string& name) {
  const auto& servers = loaded.config.servers;
  const auto server = std::ranges::find(servers, name, &Server::name);
  if (server != servers.end()) {
    return DeclaredServer{*server, loaded.declared_in.find(name)->second};
  }
  std::vector<std::string_view> known;
  known.reserve(servers.size());
  for (const Server& one : servers) known.emplace_back(one.name);
  const auto guess = nearest(name, known);
  return fail(fmt::format("no server \"{}\" is declared{}", name,
                          guess.empty() ? "" : fmt::format("; did you mean \"{}\"?", guess)));
}

// The name of an account, or its number.
std::string or_number(std::string name, std::uint32_t id) {
  return name.empty() ? std::to_string(id) : std::move(name);
}

Result<Explanation> server_explained(const Options& options, const LoadedConfig& loaded) {
  if (!options.role.empty()) return fail("a role is somebody's: name the user as well");
  return explain_server(
      CELLBLOCK_TRY(server_of(loaded, options.explain.front())), loaded.config,
      {.user = [](std::uint32_t uid) { return or_number(name_of_user(uid), uid); },
       .group = [](std::uint32_t gid) { return or_number(name_of_group(gid), gid); }});
}

// Of a user and a server. The words in the other order are a common mistake.
Result<DeclaredServer> server_of_user(const Options& options, const LoadedConfig& loaded) {
  auto declared = server_of(loaded, options.explain.at(1));
  if (declared || !server_of(loaded, options.explain.at(0))) return declared;
  return fail(declared.error().text + "; the user comes first: USER SERVER [TOOL]");
}

Result<Explanation> explanation(const Options& options, const LoadedConfig& loaded) {
  if (options.explain.size() == 1) return server_explained(options, loaded);
  const DeclaredServer declared = CELLBLOCK_TRY(server_of_user(options, loaded));
  const std::uint32_t uid = CELLBLOCK_TRY(uid_of(options.explain.at(0)));
  const auto user = find_user(static_cast<uid_t>(uid));
  const auto groups = groups_of(uid);
  const auto& roles = loaded.config.roles;
  std::optional<Subject> subject = subject_of(roles, {uid, user ? user->gid : uid, groups});
  if (!options.role.empty()) subject = as_role(roles, *subject, options.role);
  if (!subject) return fail(fmt::format("this user may not take a role \"{}\"", options.role));
  if (options.explain.size() == 2) {
    return explain_rights(declared, *subject, loaded.config.identity);
  }
  const bool has_arguments = options.explain.size() > 3;
  return explain_call(declared, *subject, {loaded.config.flows, loaded.files.front()},
                      {options.explain.at(2), has_arguments ? options.explain.at(3) : ""});
}

int exit_code_of(std::optional<Effect> effect) {
  if (!effect) return exit_usage;
  switch (*effect) {
    case Effect::allow:
      return 0;
    case Effect::ask:
      return exit_asks;
    case Effect::deny:
      break;
  }
  return exit_refused;
}

int unexplained(const Options& options, std::string_view why, int exit_code) {
  fmt::print(stderr, "cellblockd: {}\n", why);
  if (options.json) fmt::print("{}", explain_error_json(why, exit_code));
  return exit_code;
}

// The explained rules hold again when the cause is removed.
void say_left_out(const Options& options, const LoadedConfig& loaded) {
  const std::string& name = options.explain.at(options.explain.size() == 1 ? 0 : 1);
  const auto server = std::ranges::find(loaded.config.servers, name, &Server::name);
  if (server == loaded.config.servers.end() || !server->breakage.is_broken()) return;
  fmt::print(stderr, "cellblockd: server {} is left out: {}\n", name,
             printable(text_of(server->breakage)));
}

int explain(const Options& options) {
  auto loaded = load_config({options.config, options.mode, options.socket, LookPurpose::check});
  if (!loaded) {
    static_cast<void>(std::fputs(check_report(options.config, loaded).c_str(), stderr));
    return unexplained(options, "the configuration is not usable", 1);
  }
  wipe(loaded->secrets);
  const auto explained = explanation(options, *loaded);
  if (!explained) return unexplained(options, printable(explained.error().text), exit_usage);
  say_left_out(options, *loaded);
  const std::string& shown = options.json ? explained->json : explained->text;
  return show(shown) ? exit_code_of(explained->effect) : 1;
}

int look_at_machine(const Options& options) {
  const auto facts = gather_machine_facts(options.mode, options.config);
  return show(machine_report(machine_findings(facts))) ? 0 : 1;
}

int tell_keys(const Options& options) {
  if (options.is_markdown && !options.keys->empty()) {
    fmt::print(stderr, "cellblockd: --markdown prints all keys; allowed with it: --keys alone\n");
    return exit_usage;
  }
  if (options.is_markdown) return show(keys_markdown()) ? 0 : 1;
  const auto text = keys_text(*options.keys);
  if (text) return show(*text) ? 0 : 1;
  fmt::print(
      stderr,
      "cellblockd: no key \"{}\"; `cellblockd --keys` lists all, `--keys server.NAME` those of "
      "a server\n",
      printable(*options.keys));
  return exit_usage;
}

}  // namespace

std::optional<int> answer_question(const Options& options) {
  if (options.keys) return tell_keys(options);
  if (options.schema) return show(keys_schema()) ? 0 : 1;
  if (options.check_only) return check(options);
  if (options.doctor) return look_at_machine(options);
  if (!options.explain.empty()) return explain(options);
  return std::nullopt;
}

}  // namespace cellblock::daemon
