#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "policy/base/result.h"
#include "supervisor/daemon/load/config_files.h"
#include "supervisor/daemon/start/options.h"
#include "supervisor/os/sys.h"

/// From the files to what every process of cellblock reads, in this order; at a start, and when
/// another configuration is brought to a daemon that runs. Blocking, with one thread.
namespace cellblock::daemon {

/// Warnings are logged; the error is the whole report. `in_use`, `credentials`: as LoadRequest has
/// them.
Result<LoadedConfig> load(const Options& options, LookPurpose purpose,
                          const Config* in_use = nullptr, const Fd* credentials = nullptr);

/// Becomes the user whom the configuration names, keeping CAP_SETUID and CAP_SETGID. Does nothing
/// rootless.
Result<void> become_user_of(const Config& config);

/// Runs the commands that print secrets, as the current user. Calls `ask_for_time` before each with
/// the time that it may take.
Result<void> run_commands(LoadedConfig& loaded,
                          const std::function<void(std::chrono::milliseconds)>& ask_for_time);

/// The configuration as every process of cellblock reads it.
struct Sealed {
  Fd config;
  Fd secrets;
  Fd declared;  ///< report/declared_parts.h
};

/// Consumes the secrets.
Result<Sealed> seal(const Config& config, Secrets& secrets);

}  // namespace cellblock::daemon
