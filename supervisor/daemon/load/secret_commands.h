#pragma once

#include <chrono>
#include <functional>

#include "policy/base/result.h"
#include "policy/config/config.h"
#include "policy/config/config_bytes.h"

/// Commands of the admin's that print a secret. They are run when cellblockd starts, under its own
/// user, before anything can connect and before anything else runs.
namespace cellblock::daemon {

/// Called before each command with the longest time that it may take.
using BeforeCommand = std::function<void(std::chrono::milliseconds)>;

/// Fills the empty places of `secrets` whose origin is a command. One that several secrets name is
/// run once. The first that fails ends it, with an error that names server and variable, tells how
/// it ended and what it said on stderr, and has nothing of its output in it. The values that are
/// there by then are wiped.
Result<void> run_secret_commands(const Config& config, const BeforeCommand& before,
                                 Secrets& secrets);

}  // namespace cellblock::daemon
