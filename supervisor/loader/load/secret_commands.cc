#include "supervisor/loader/load/secret_commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/base/printable.h"
#include "policy/base/units.h"
#include "policy/config/server_list.h"
#include "supervisor/loader/identity/accounts.h"
#include "supervisor/loader/load/host_facts.h"
#include "supervisor/loader/load/secret_files.h"
#include "supervisor/os/account_names.h"
#include "supervisor/process/capture.h"
#include "supervisor/process/wipe.h"

namespace cellblock::daemon {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t shown_errors = 1024;
constexpr std::size_t shortest_shown_twice = 4;  // of a line of the output that stderr may not have

/// Why a command has no value.
struct Failure {
  std::string how;   ///< the command ended; for every user who sees why a server is broken
  std::string said;  ///< on stderr, which may hold a credential: for the log only
};

using Output = std::expected<std::string, Failure>;

/// The results of the commands. A command of several secrets is run once.
class Outputs {
 public:
  void keep(const SecretCommand& command, const std::string& value) {
    values_.emplace(command, secret_text(value));
  }
  void keep_failure(const SecretCommand& command, std::string how) {
    failures_.emplace(command, std::move(how));
  }
  /// Null: the command has not been run, or has failed.
  const std::string* value_of(const SecretCommand& command) const {
    const auto found = values_.find(command);
    return found == values_.end() ? nullptr : &found->second;
  }
  const std::string* failure_of(const SecretCommand& command) const {
    const auto found = failures_.find(command);
    return found == failures_.end() ? nullptr : &found->second;
  }

  Outputs() = default;
  Outputs(Outputs&&) = delete;
  Outputs& operator=(Outputs&&) = delete;
  ~Outputs() {
    for (auto& [command, value] : values_) wipe(value);
  }

 private:
  std::map<SecretCommand, std::string> values_;
  std::map<SecretCommand, std::string> failures_;
};

std::vector<std::string> environment_of(RunMode mode) {
  std::vector<std::string> environment = {
      "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"};
  const auto add = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) environment.push_back(fmt::format("{}={}", name, value));
  };
  const bool is_user = mode == RunMode::user;
  const std::string home = is_user ? user_home() : home_of(::geteuid());
  add("HOME", home.empty() ? "/" : home);
  const std::string name = name_of_user(::geteuid());
  add("USER", name);
  add("LOGNAME", name);
  if (is_user) add("XDG_RUNTIME_DIR", user_runtime_directory());
  add("CREDENTIALS_DIRECTORY", credentials_directory());
  return environment;
}

bool repeats(std::string_view errors, std::string_view output) {
  while (!output.empty()) {
    const std::size_t end = std::min(output.find('\n'), output.size());
    const std::string_view line = output.substr(0, end);
    if (line.size() >= shortest_shown_twice && errors.find(line) != std::string_view::npos) {
      return true;
    }
    output.remove_prefix(std::min(end + 1, output.size()));
  }
  return false;
}

Failure failure_of(std::string how, std::string_view errors, std::string_view output) {
  while (errors.ends_with('\n')) errors.remove_suffix(1);
  if (errors.empty()) return {how + "; it said nothing on stderr", {}};
  if (repeats(errors, output)) {
    return {how + "; its stderr repeats its output, so it is not shown", {}};
  }
  return {how + "; what it said is in the journal", printable(errors, shown_errors)};
}

std::optional<Failure> failure_in(const Captured& captured) {
  if (!captured.problem.empty()) {
    return failure_of(captured.problem, captured.errors, captured.output);
  }
  if (captured.output.find('\0') != std::string::npos) return Failure{"printed a NUL", {}};
  const bool is_empty = captured.output.empty() || captured.output == "\n";
  if (!is_empty) return std::nullopt;
  return failure_of("printed nothing", captured.errors, captured.output);
}

/// The environment is the same for all.
class Commands {
 public:
  explicit Commands(RunMode mode)
      : environment_(environment_of(mode)),
        groups_(mode == RunMode::system ? ChildGroups::leave : ChildGroups::keep) {}

  Output output_of(const SecretCommand& command, milliseconds timeout) const {
    auto captured = capture({command.argv, environment_, groups_}, {timeout, max_secret_bytes});
    if (!captured) return std::unexpected(Failure{captured.error().text, {}});
    auto failure = failure_in(*captured);
    wipe(captured->errors);
    if (failure) {
      wipe(captured->output);
      return std::unexpected(std::move(*failure));
    }
    if (captured->output.ends_with('\n')) captured->output.pop_back();
    return std::move(captured->output);
  }

 private:
  std::vector<std::string> environment_;
  ChildGroups groups_;
};

/// The remaining time of all commands together.
class Budget {
 public:
  explicit Budget(milliseconds whole) : whole_(whole), end_(Clock::now() + whole) {}

  milliseconds left() const {
    return std::max(std::chrono::ceil<milliseconds>(end_ - Clock::now()), milliseconds(0));
  }
  std::string text() const {
    return fmt::format("all commands of secrets have {} together", duration_text(whole_));
  }

 private:
  using Clock = std::chrono::steady_clock;

  milliseconds whole_;
  Clock::time_point end_;
};

// Leaves out the arguments, which may be confidential.
std::string name_of_command(const SecretVariable& secret) {
  return fmt::format("the command of the secret {}, {}", secret.name,
                     printable(secret.command->argv.front()));
}

void wipe_values(ServerSecrets& secrets) {
  for (std::string& value : secrets.values) wipe(value);
  secrets.values.clear();
}

/// Fills the secrets of servers, one server after the other.
class Filler {
 public:
  Filler(RunMode mode, const BeforeCommand& before, milliseconds budget)
      : commands_(mode), before_(before), budget_(budget) {}

  /// Why the server's secrets are incomplete; nullopt: they are complete.
  std::optional<Breakage> fill(const Server& server, ServerSecrets& secrets) {
    for (std::size_t k = 0; k < server.secrets.size(); ++k) {
      const SecretVariable& secret = server.secrets[k];
      if (secret.origin != SecretOrigin::command) continue;
      auto value = value_of(server, secret);
      if (!value) {
        return Breakage{.cause =
                            fmt::format("{}: {}", name_of_command(secret), value.error().text)};
      }
      secrets.values[k] = std::move(*value);
    }
    return std::nullopt;
  }

  std::vector<std::string> take_said() { return std::move(said_); }

 private:
  Result<std::string> value_of(const Server& server, const SecretVariable& secret) {
    const SecretCommand& command = *secret.command;
    if (const auto* value = outputs_.value_of(command)) return secret_text(*value);
    if (const auto* failure = outputs_.failure_of(command)) return fail(*failure);
    auto output = run(command);
    if (output) {
      outputs_.keep(command, *output);
      return std::move(*output);
    }
    const auto& [how, said] = output.error();
    outputs_.keep_failure(command, how);
    if (!said.empty()) {
      said_.push_back(
          fmt::format("server {}: {}, said: {}", server.name, name_of_command(secret), said));
    }
    return fail(how);
  }

  Output run(const SecretCommand& command) {
    const milliseconds left = budget_.left();
    if (left == milliseconds(0)) {
      return std::unexpected(
          Failure{fmt::format("was not run: {}, and others have used it up", budget_.text()), {}});
    }
    const milliseconds timeout = std::min(command.timeout, left);
    before_(timeout);
    auto output = commands_.output_of(command, timeout);
    const bool is_cut_short = timeout < command.timeout && budget_.left() == milliseconds(0);
    if (!output && is_cut_short) {
      output.error().how += fmt::format(" (it had what was left: {})", budget_.text());
    }
    return output;
  }

  Commands commands_;
  const BeforeCommand& before_;
  Budget budget_;
  Outputs outputs_;
  std::vector<std::string> said_;
};

}  // namespace

std::vector<std::string> run_secret_commands(Config& config, const BeforeCommand& before,
                                             Secrets& secrets, milliseconds budget) {
  Filler filler(config.mode, before, budget);
  for (std::size_t i = 0; i < config.servers.size(); ++i) {
    Server& server = config.servers[i];
    auto broken = filler.fill(server, secrets.servers[i]);
    if (!broken) continue;
    wipe_values(secrets.servers[i]);
    leave_out(server, std::move(*broken));
  }
  return filler.take_said();
}

}  // namespace cellblock::daemon
