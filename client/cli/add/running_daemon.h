#pragma once

#include <string>

#include "client/cli/common/context.h"
#include "client/cli/install/places.h"
#include "client/cli/install/program_output.h"
#include "policy/base/result.h"

/// The daemon that serves the configuration in which servers are added.
namespace cellblock::cli {

/// An error: the configuration as it is now is not usable, or leaves `server` out; with the report.
Result<void> check_configuration(const Context& context, const AddPlaces& places,
                                 const std::string& server);

/// What it has pinned of a server of that name for this user: forgotten, so that what is shown next
/// is a first sight. Of others in system mode it stays.
void forget_pins(const Context& context, const AddPlaces& places, const std::string& server);

/// Ends its cells, and removes what it kept in its home for who works. An error: no daemon runs, or
/// it is the system's, where each user has a home of its own.
Result<void> clear_home(const Context& context, const AddPlaces& places, const std::string& server);

/// Ends its cells for who works, so that it starts anew; of others in system mode they stay.
void stop_cells(const Context& context, const AddPlaces& places, const std::string& server);

/// What became of a reload, or how to start a daemon where none runs, in one sentence.
struct ReloadOutcome {
  std::string words;
  bool is_failed = false;  ///< a daemon runs, and goes on with the configuration from before
};
/// `output`: of `cellblock reload`. Pure.
ReloadOutcome reload_outcome(const Result<ProgramOutput>& output);

/// Has it reload. The configuration is good by then, so nothing is taken back.
ReloadOutcome reload_daemon(const Context& context, const AddPlaces& places);

}  // namespace cellblock::cli
