#pragma once

#include <string>

#include "policy/failures/end_verdict.h"
#include "policy/failures/failure.h"
#include "supervisor/ipc/wire.h"

/// The end of a cell as its host is told.
namespace cellblock::gateway {

/// `ended.given_up` holds the first cause that the gateway saw. Where the cell turns out to have
/// ended by itself, that end is the cause: a process closes its pipes before anybody can learn how
/// it ended, so a closed stdout or stdin was only the first sign of it.
EndedCell with_true_cause(EndedCell ended);

Failure failure_of_end(const std::string& server, const EndedCell& ended);

/// The launcher did not start it; `facts` say where a step of the set-up failed.
Failure failure_of_refusal(const std::string& server, wire::StartRefusal refusal,
                           const EndedCell& ended);

}  // namespace cellblock::gateway
