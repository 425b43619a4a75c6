#include "supervisor/loader/report/effective_keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <optional>
#include <string_view>
#include <utility>

#include "policy/base/units.h"
#include "policy/config/installation_keys.h"
#include "policy/config/names.h"
#include "policy/config/path_rules.h"
#include "policy/config/server_keys.h"
#include "policy/config/words.h"
#include "policy/egress/egress_rule.h"
#include "policy/flows/rule_match.h"
#include "policy/rates/rate_text.h"
#include "supervisor/loader/report/explain_rights.h"

namespace cellblock {
namespace {

using std::chrono::milliseconds;

// A basic string of TOML, so that a value cannot make one line of a report look like two.
std::string toml_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    constexpr unsigned char first_printable = 0x20;
    constexpr unsigned char rubout = 0x7f;
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (byte < first_printable || byte == rubout) {
      quoted += fmt::format("\\u{:04x}", byte);
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::string toml_list(const std::vector<std::string>& texts) {
  std::vector<std::string> items;
  items.reserve(texts.size());
  for (const std::string& text : texts) items.push_back(toml_string(text));
  return fmt::format("[{}]", fmt::join(items, ", "));
}

std::string_view flag_text(bool value) { return value ? "true" : "false"; }

/// The visitor of the tables with plain values. Borrows the list.
class KeyPrinter {
 public:
  KeyPrinter(std::string prefix, std::vector<EffectiveKey>& out)
      : prefix_(std::move(prefix)), out_(out) {}

  void size(std::string_view key, std::optional<std::uint64_t> value, auto&&...) {
    add(key, value ? toml_string(size_text(*value)) : "");
  }
  template <std::unsigned_integral T>
  void integer(std::string_view key, T value, auto&&...) {
    add(key, std::to_string(value));
  }
  template <std::unsigned_integral T>
  void integer(std::string_view key, std::optional<T> value, auto&&...) {
    add(key, value ? std::to_string(*value) : "");
  }
  void number(std::string_view key, std::optional<double> value, auto&&...) {
    add(key, value ? fmt::format("{}", *value) : "");
  }
  void time(std::string_view key, milliseconds value, auto&&...) {
    add(key, toml_string(duration_text(value)));
  }
  void time_or(std::string_view key, std::optional<milliseconds> value, std::string_view none,
               auto&&...) {
    add(key, toml_string(value ? duration_text(*value) : std::string(none)));
  }
  template <Worded E>
  void choice(std::string_view key, E value, std::string_view /*about*/) {
    add(key, toml_string(word_of(value)));
  }
  void flag(std::string_view key, bool value, std::string_view /*about*/) {
    add(key, std::string(flag_text(value)));
  }
  template <class E>
  void flag(std::string_view key, E value, E when_true, E /*when_false*/,
            std::string_view /*about*/) {
    add(key, std::string(flag_text(value == when_true)));
  }
  void path(std::string_view key, const std::string& value, std::string_view /*about*/) {
    add(key, value.empty() ? "" : toml_string(value));
  }
  void rate(const std::optional<Rate>& value, std::string_view /*about*/) {
    Rate plain = value.value_or(Rate{});
    const std::uint32_t burst = std::exchange(plain.burst, plain.count);
    add("rate", toml_string(value ? rate_text(plain) : "none"));
    add("burst", value ? std::to_string(burst) : "");
  }
  template <class Table>
  void table(std::string_view key, Table table, std::string_view /*about*/) {
    below(key, table);
  }
  // Not listed here: the caller prints the resolved values from the Config.
  void text(auto&&...) {}
  void id(auto&&...) {}
  void texts(auto&&...) {}
  void ids(auto&&...) {}

  void add(std::string_view key, std::string value) {
    out_.push_back({.path = prefix_ + std::string(key), .value = std::move(value)});
  }
  template <class Table>
  void below(std::string_view key, Table table) {
    KeyPrinter keys(fmt::format("{}{}.", prefix_, key), out_);
    visit_keys(keys, table);
  }

 private:
  std::string prefix_;
  std::vector<EffectiveKey>& out_;
};

std::vector<std::string> sources_of(const Server& server, Access access) {
  std::vector<std::string> sources;
  for (const Bind& bind : server.binds) {
    if (bind.access == access && !is_home_file(bind)) sources.push_back(bind.source);
  }
  return sources;
}

std::vector<std::string> texts_of(const std::vector<EgressRule>& rules) {
  std::vector<std::string> texts;
  texts.reserve(rules.size());
  for (const EgressRule& rule : rules) texts.push_back(text_of(rule));
  return texts;
}

std::vector<std::string> names_of(const ClientFeatures& features) {
  std::vector<std::string> names;
  if (features.roots) names.emplace_back("roots");
  if (features.sampling) names.emplace_back("sampling");
  if (features.elicitation) names.emplace_back("elicitation");
  return names;
}

std::string source_text(const SecretVariable& secret) {
  if (secret.command) return fmt::format("{{ command = {} }}", toml_list(secret.command->argv));
  if (secret.origin == SecretOrigin::credential) {
    return fmt::format("{{ credential = {} }}", toml_string(secret.from));
  }
  return toml_string(secret.from);
}

std::string_view table_of(SecretDelivery delivery) {
  switch (delivery) {
    case SecretDelivery::environment:
      return "env_from_file";
    case SecretDelivery::file:
      return "secret_files";
    case SecretDelivery::memfd:
      return "secret_memfds";
  }
  return "";
}

void add_program(KeyPrinter& keys, const Server& server) {
  keys.add("enabled", std::string(flag_text(server.enabled)));
  keys.add("command", toml_list(server.command));
  if (!server.image.empty()) keys.add("image", toml_string(server.image));
  if (!server.working_directory.empty()) {
    keys.add("working_directory", toml_string(server.working_directory));
  }
  // Read-only binds and the directories of a program are the same to a cell.
  keys.add("read", toml_list(sources_of(server, Access::read)));
  keys.add("write", toml_list(sources_of(server, Access::write)));
  for (const Bind& bind : server.binds) {
    if (!is_home_file(bind)) continue;
    const std::string name = bind.target.substr(home_in_cell.size() + 1);
    keys.add(fmt::format("home_files.{}", toml_string(name)), toml_string(bind.source));
  }
  keys.add("home", toml_string(name_of(server.home)));
  if (server.workspace) {
    keys.add("workspace.allow", toml_list(server.workspace->allow));
    keys.add("workspace.mode", toml_string(word_of(server.workspace->access)));
  }
  keys.add("execute_writable", std::string(flag_text(server.execute_writable)));
}

void add_variables(KeyPrinter& keys, const Server& server) {
  for (const EnvironmentVariable& variable : server.environment) {
    keys.add(fmt::format("env.{}", variable.name), toml_string(variable.value));
  }
  for (const SecretVariable& secret : server.secrets) {
    keys.add(fmt::format("{}.{}", table_of(secret.delivery), secret.name), source_text(secret));
  }
}

void add_egress(KeyPrinter& keys, const Egress& egress) {
  keys.add("egress.allow", toml_list(texts_of(egress.allow)));
  keys.add("egress.max_connections", std::to_string(egress.max_connections));
  keys.add("egress.max_bytes", egress.max_bytes ? toml_string(size_text(*egress.max_bytes)) : "");
  keys.add("egress.proxy", egress.proxy_port ? std::to_string(*egress.proxy_port) : "");
}

void add_fences(KeyPrinter& keys, const Server& server) {
  keys.add("run_as", toml_string(run_as_name(server.run_as)));
  keys.add("network", toml_string(name_of(server.network)));
  if (server.network == NetworkMode::egress) add_egress(keys, server.egress);
  keys.add("profile", toml_string(profile_name(server.syscalls)));
  keys.add("write_exec", toml_string(name_of(server.syscalls.write_exec)));
}

void add_bounds(KeyPrinter& keys, Server server) {
  keys.below("limits", server.limits);
  keys.below("lines", server.lines);
  keys.below("start", StartTable{server.start, server.timeouts});
  keys.below("stop", StopTable{server.stop, server.timeouts});
  keys.below("restart", server.restart);
  keys.below("health", server.health);
  keys.below("results", server.results.bounds);
  keys.below("calls", server.calls);
  for (ToolCalls& tool : server.calls.tools) keys.below("tool." + toml_string(tool.name), tool);
  for (ToolResults& tool : server.results.tools) {
    keys.below(fmt::format("tool.{}.results", toml_string(tool.name)), tool.bounds);
  }
}

std::vector<std::string> texts_of(const std::vector<NamePattern>& patterns) {
  std::vector<std::string> texts;
  texts.reserve(patterns.size());
  for (const auto& pattern : patterns) {
    texts.push_back(pattern.text + (pattern.is_prefix ? "*" : ""));
  }
  return texts;
}

// An undeclared list is left out: an empty list says that no tool has the label.
void add_flows(KeyPrinter& keys, const FlowTools& flows) {
  const auto add = [&](const char* key, const std::optional<std::vector<NamePattern>>& tools) {
    if (tools) keys.add(key, toml_list(texts_of(*tools)));
  };
  add("flows.untrusted", flows.untrusted);
  add("flows.private", flows.private_data);
  add("flows.egress", flows.egress);
  add("flows.destructive", flows.destructive);
}

void add_rights(KeyPrinter& keys, const Server& server) {
  keys.add("client_features", toml_list(names_of(server.client_features)));
  keys.add("max_cells_per_user", std::to_string(server.max_cells_per_user));
  keys.add("era", toml_string(name_of(server.era)));
  keys.add("cells", toml_string(word_of(server.cells)));
  keys.add("pin", toml_string(name_of(server.pin)));
  keys.add("validate_arguments", std::string(flag_text(server.validate_arguments)));
  keys.add("accepted_definitions", toml_list(server.accepted_definitions));
  keys.add("always_listed", toml_list(texts_of(server.always_listed)));
  add_flows(keys, server.flows);
}

std::string lines_of(const std::vector<EffectiveKey>& keys) {
  std::string text;
  for (const EffectiveKey& key : keys) {
    text += key.value.empty() ? fmt::format("# {}: none\n", key.path)
                              : fmt::format("{} = {}\n", key.path, key.value);
  }
  return text;
}

// Merges both in order. A key that only one of them has is empty in the other.
void add_changes(const std::vector<EffectiveKey>& used, const std::vector<EffectiveKey>& fresh,
                 std::vector<ChangedKey>& out) {
  const auto value_in = [](const std::vector<EffectiveKey>& keys, const std::string& path) {
    const auto found = std::ranges::find(keys, path, &EffectiveKey::path);
    return found == keys.end() ? std::string() : found->value;
  };
  for (const EffectiveKey& key : fresh) {
    std::string before = value_in(used, key.path);
    if (before != key.value) out.push_back({key.path, std::move(before), key.value});
  }
  for (const EffectiveKey& key : used) {
    const bool is_gone = std::ranges::find(fresh, key.path, &EffectiveKey::path) == fresh.end();
    if (is_gone && !key.value.empty()) out.push_back({key.path, key.value, ""});
  }
}

// The journal has the changes of a reload, and users besides root may read the journal.
std::vector<EffectiveKey> without_variables(Server server) {
  server.environment.clear();
  return effective_keys(server);
}

}  // namespace

std::vector<EffectiveKey> effective_keys(const Server& server) {
  std::vector<EffectiveKey> all;
  KeyPrinter keys(fmt::format("server.{}.", server.name), all);
  add_program(keys, server);
  add_variables(keys, server);
  add_fences(keys, server);
  add_bounds(keys, server);
  add_rights(keys, server);
  return all;
}

std::vector<EffectiveKey> effective_keys(const Config& config) {
  std::vector<EffectiveKey> all;
  KeyPrinter keys("", all);
  Config shown = config;
  keys.below("daemon", DaemonTable{shown});
  keys.add("daemon.state_directory", toml_string(config.state_directory));
  keys.add("daemon.audit_log", toml_string(config.audit_log));
  keys.add("socket.path", toml_string(config.listen.socket));
  keys.add("socket.mode", toml_string(mode_text(config.listen.mode)));
  keys.below("socket", shown.listen);
  if (shown.http) keys.below("listen.http", *shown.http);
  if (shown.metrics) keys.below("metrics", *shown.metrics);
  keys.below("sandbox", shown.kernel);
  keys.below("catalogue", shown.catalogue);
  keys.below("aggregate", shown.aggregate);
  keys.below("flows", shown.flows);
  keys.below("audit", shown.audit);
  keys.below("calls", shown.calls);
  return all;
}

std::string effective_text(const Config& config) {
  std::string text = lines_of(effective_keys(config));
  for (const FlowRule& rule : config.flows.rules) {
    text += fmt::format("# {}: {}\n", rule.name, rule_text(rule));
  }
  for (const Server& server : config.servers) {
    text += fmt::format("\n{}", lines_of(effective_keys(server)));
    for (const Rule& rule : server.rules) {
      text += fmt::format("# server.{}.{}: {}\n", server.name, rule.name, text_of(rule));
    }
  }
  return text;
}

std::vector<ChangedKey> changed_keys(const Config& used, const Config& fresh) {
  std::vector<ChangedKey> changed;
  add_changes(effective_keys(used), effective_keys(fresh), changed);
  const std::size_t both = std::min(used.servers.size(), fresh.servers.size());
  for (std::size_t i = 0; i < both; ++i) {
    const Server& before = used.servers[i];
    const Server& after = fresh.servers[i];
    if (before.removed || after.removed || before.name != after.name) continue;
    add_changes(without_variables(before), without_variables(after), changed);
  }
  return changed;
}

}  // namespace cellblock
