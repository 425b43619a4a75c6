#pragma once

#include "policy/config/config.h"
#include "policy/sandbox/user_namespace_ids.h"
#include "policy/syscalls/launcher_syscalls.h"
#include "supervisor/ipc/wire.h"

/// What a configuration has to have in common with the one before it, so that the launcher can take
/// it while it runs. Pure.
namespace cellblock::launcher {

/// What was settled when the launcher was started.
struct StartFacts {
  MappedIds ids;         ///< all that its user namespace has
  bool http = false;     ///< whether it was given cellblock-http
  bool metrics = false;  ///< whether it was given cellblock-metrics
  GrantedCalls calls;    ///< what its own filter leaves to servers
};
StartFacts start_facts(const Config& first);

wire::ReloadRefusal refusal_of(const StartFacts& start, const Config& now, const Config& next);

}  // namespace cellblock::launcher
