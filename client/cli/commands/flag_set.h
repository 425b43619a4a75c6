#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/cli/commands/commands.h"
#include "client/cli/common/context.h"
#include "client/cli/terminal/exit_code.h"

/// What the commands' flags are parsed into, and how a command is declared.
namespace cellblock::cli {

struct Flags {
  std::string socket;
  bool user = false;
  bool system = false;
  bool json = false;
  // Of the commands; each declares those that it has.
  std::string server;
  std::string workspace;
  std::string role;
  std::string whose;  // --for
  std::string person;
  std::string explained;
  std::string path;
  CheckReport report = CheckReport::verdict;  ///< of check
  std::string tool;
  double timeout_seconds = 60;
  unsigned lines = 100;
  bool denied = false;
  bool follow = false;
  bool all = false;
  bool frames = false;
  bool timings = false;
  std::string era = "legacy";
  std::vector<std::string> words;
  std::vector<std::string> pairs;   // --arg
  std::vector<std::string> labels;  // --label
};

using Command = std::function<Exit()>;

/// The daemon, or with --for the door to that user's gateway.
Context context_of(const Flags& flags);

/// --for USER
CLI::Option* for_option(CLI::App* sub, Flags& flags);

/// --as ROLE
void role_option(CLI::App* sub, Flags& flags);

/// What is wrong with a --label; empty: nothing. As the gateway takes them.
std::string check_label(const std::string& label);

/// A command with its example; that it is run is decided while parsing, and done afterwards.
CLI::App* add_command(CLI::App& app, Command& command, const char* name, const char* what,
                      const char* example, std::function<Exit()> run);

/// What is for administrators alone.
void declare_admin(CLI::App& app, Command& command, const std::shared_ptr<Flags>& flags);

/// What needs no daemon.
void declare_local(CLI::App& app, Command& command, const std::shared_ptr<Flags>& flags);

/// `cellblock top`.
void declare_top(CLI::App& app, Command& command, const std::shared_ptr<Flags>& flags);

/// `cellblock learn`.
void declare_learn(CLI::App& app, Command& command, const std::shared_ptr<Flags>& flags);

/// `cellblock pin ...`.
void declare_pins(CLI::App& app, Command& command, const std::shared_ptr<Flags>& flags);

/// `cellblock home ...`.
void declare_home(CLI::App& app, Command& command, const std::shared_ptr<Flags>& flags);

/// `cellblock import`, `cellblock export`.
void declare_exchange(CLI::App& app, Command& command, const std::shared_ptr<Flags>& flags);

/// `cellblock audit ...`.
void declare_audit(CLI::App& app, Command& command, const std::shared_ptr<Flags>& flags);

}  // namespace cellblock::cli
