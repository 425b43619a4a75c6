#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "policy/base/result.h"
#include "policy/config/config.h"
#include "policy/config/config_bytes.h"

/// Runs the administrator's commands that print a secret. They run when cellblockd starts, as its
/// own user, before any peer can connect and before any other program is started.
namespace cellblock::daemon {

/// Called before each command with the longest time that the command may take.
using BeforeCommand = std::function<void(std::chrono::milliseconds)>;

/// The budget of all commands together: a reload is killed after 600 s (reload_client.cc), and also
/// makes mounts and waits for the daemon.
inline constexpr std::chrono::milliseconds time_for_secret_commands{300'000};

/// Fills the empty places of `secrets` whose origin is a command. A command that several secrets
/// name is run once. A server is left out if one of its commands fails, or does not run because
/// `budget` is used up; the cause names the variable and says how the command ended.
///
/// Returns the stderr of failed commands, a line for each. It may hold a credential, so it is in no
/// cause, since causes are shown to users. A command's output is in neither.
std::vector<std::string> run_secret_commands(
    Config& config, const BeforeCommand& before, Secrets& secrets,
    std::chrono::milliseconds budget = time_for_secret_commands);

}  // namespace cellblock::daemon
