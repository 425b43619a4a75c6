#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "policy/base/result.h"
#include "policy/config/config.h"
#include "policy/config/config_bytes.h"

/// Commands of the admin's that print a secret. They are run when cellblockd starts, under its own
/// user, before anything can connect and before anything else runs.
namespace cellblock::daemon {

/// Called before each command with the longest time that it may take.
using BeforeCommand = std::function<void(std::chrono::milliseconds)>;

/// For all of them together, however many hang: a reload is killed after 600 s (reload_client.cc),
/// and has mounts to make and the daemon to ask besides.
inline constexpr std::chrono::milliseconds time_for_secret_commands{300'000};

/// Fills the empty places of `secrets` whose origin is a command. One that several secrets name is
/// run once. A server one of whose commands fails, or is not run since `budget` is used up, is left
/// out, with a cause that names the variable and tells how the command ended.
///
/// What the commands that failed said on stderr is returned, a line for each, and is in no cause:
/// users hear causes, and it may hold a credential. Nothing of a command's output is in either.
std::vector<std::string> run_secret_commands(
    Config& config, const BeforeCommand& before, Secrets& secrets,
    std::chrono::milliseconds budget = time_for_secret_commands);

}  // namespace cellblock::daemon
