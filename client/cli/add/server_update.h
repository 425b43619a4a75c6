#pragma once

#include <string>

#include "client/cli/add/new_server.h"
#include "client/cli/add/running_daemon.h"
#include "client/cli/common/prompt.h"
#include "policy/base/result.h"

/// Updates and removes an added server.
namespace cellblock::cli {

/// What became of it, in words.
struct UpdateOutcome {
  std::string words;
  bool is_changed = false;
};

struct UpdateOptions {
  bool agrees = false;  ///< without being asked
  std::string bundle;   ///< the archive of the other version, of a server that was added from one
};

/// Installs the newest version, tries it, shows the differences, asks unless `agrees`, and makes
/// the declaration lead to it. A failure leaves the present version.
Result<UpdateOutcome> update_server(const Work& work, const std::string& server,
                                    const UpdateOptions& options, const Interruption& interruption);

/// Back to the version before.
Result<UpdateOutcome> roll_back_server(const Work& work, const std::string& server);

/// Removes its declaration, has the daemon reload, and removes its program and secrets. Gives what
/// became of the reload. Call it with the lock of a Scratch held.
Result<ReloadOutcome> remove_server(const Context& context, const AddPlaces& places,
                                    const std::string& server);

}  // namespace cellblock::cli
