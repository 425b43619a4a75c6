#include "supervisor/daemon/load/secret_commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/base/printable.h"
#include "supervisor/daemon/load/accounts.h"
#include "supervisor/daemon/load/capture.h"
#include "supervisor/daemon/load/host_facts.h"
#include "supervisor/daemon/load/secret_files.h"
#include "supervisor/daemon/load/wipe.h"

namespace cellblock::daemon {
namespace {

constexpr std::size_t shown_errors = 1024;
constexpr std::size_t shortest_shown_twice = 4;  // of a line of the output that stderr may not have

/// Where each command's value was put first.
using Known = std::map<SecretCommand, const std::string*>;

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

std::string said(std::string_view errors, std::string_view output) {
  while (errors.ends_with('\n')) errors.remove_suffix(1);
  if (errors.empty()) return "; it said nothing on stderr";
  if (repeats(errors, output)) return "; its stderr repeats its output, so it is not shown";
  return "; it said: " + printable(errors, shown_errors);
}

std::string problem_of(const Captured& captured) {
  if (!captured.problem.empty()) {
    return captured.problem + said(captured.errors, captured.output);
  }
  if (captured.output.find('\0') != std::string::npos) return "printed a NUL";
  const bool is_empty = captured.output.empty() || captured.output == "\n";
  return is_empty ? "printed nothing" + said(captured.errors, captured.output) : std::string();
}

/// The environment is the same for all.
class Commands {
 public:
  explicit Commands(RunMode mode)
      : environment_(environment_of(mode)),
        groups_(mode == RunMode::system ? ChildGroups::leave : ChildGroups::keep) {}

  Result<std::string> output_of(const SecretCommand& command) const {
    Captured captured = CELLBLOCK_TRY(
        capture({command.argv, environment_, groups_}, {command.timeout, max_secret_bytes}));
    std::string problem = problem_of(captured);
    wipe(captured.errors);
    if (!problem.empty()) {
      wipe(captured.output);
      return fail(std::move(problem));
    }
    if (captured.output.ends_with('\n')) captured.output.pop_back();
    return std::move(captured.output);
  }

 private:
  std::vector<std::string> environment_;
  ChildGroups groups_;
};

Result<void> fill(const Commands& commands, const BeforeCommand& before,
                  const SecretVariable& secret, Known& known, std::string& value) {
  const auto found = known.find(*secret.command);
  if (found != known.end()) {
    value = secret_text(*found->second);
    return {};
  }
  before(secret.command->timeout);
  value = CELLBLOCK_TRY(commands.output_of(*secret.command));
  known.emplace(*secret.command, &value);
  return {};
}

// Its arguments are not told: they may name what nobody else is to know.
Error failure(const Server& server, const SecretVariable& secret, const Error& why) {
  return Error{fmt::format("server {}: the command of the secret {}, {}: {}", server.name,
                           secret.name, printable(secret.command->argv.front()), why.text)};
}

Result<void> fill_all(const Config& config, const BeforeCommand& before, Secrets& secrets) {
  const Commands commands(config.mode);
  Known known;
  for (std::size_t i = 0; i < config.servers.size(); ++i) {
    const Server& server = config.servers[i];
    for (std::size_t k = 0; k < server.secrets.size(); ++k) {
      const SecretVariable& secret = server.secrets[k];
      if (secret.origin != SecretOrigin::command) continue;
      const auto filled = fill(commands, before, secret, known, secrets.servers[i].values[k]);
      if (!filled) return std::unexpected(failure(server, secret, filled.error()));
    }
  }
  return {};
}

}  // namespace

Result<void> run_secret_commands(const Config& config, const BeforeCommand& before,
                                 Secrets& secrets) {
  auto filled = fill_all(config, before, secrets);
  if (!filled) wipe(secrets);
  return filled;
}

}  // namespace cellblock::daemon
