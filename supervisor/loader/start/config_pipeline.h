#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "policy/base/result.h"
#include "supervisor/loader/load/config_files.h"
#include "supervisor/loader/start/options.h"
#include "supervisor/os/sys.h"

/// The steps from the files to the sealed configuration, in this order; for a start and for a
/// reload. Blocking, with one thread.
namespace cellblock::daemon {

/// Reads and checks the files, and logs warnings. The error is the whole report. `in_use`,
/// `credentials`: see LoadRequest.
Result<LoadedConfig> load(const Options& options, LookPurpose purpose,
                          const Config* in_use = nullptr, const Fd* credentials = nullptr);

/// Becomes the user whom the configuration names, keeping CAP_SETUID and CAP_SETGID. Does nothing
/// rootless.
Result<void> become_user_of(const Config& config);

/// Runs the commands that print secrets, as the current user. Calls `ask_for_time` before each with
/// the longest time that the command may take.
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
