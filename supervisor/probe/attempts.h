#pragma once

#include "supervisor/probe/attempt.h"

/// The attempts of cellblock-probe by kind, each kind in a source of its own.
namespace cellblock::probe {

/// Every attempt, in the order in which they are listed and run: the fatal ones last.
std::span<const AttemptGroup> attempt_groups();

std::span<const Attempt> bombs_attempts();

std::span<const Attempt> environment_attempts();

std::span<const Attempt> files_attempts();

std::span<const Attempt> ipc_attempts();

std::span<const Attempt> kernel_attempts();

std::span<const Attempt> memory_attempts();

std::span<const Attempt> mounts_attempts();

std::span<const Attempt> network_attempts();

std::span<const Attempt> privileges_attempts();

std::span<const Attempt> processes_attempts();

std::span<const Attempt> resources_attempts();

std::span<const Attempt> sockets_attempts();

std::span<const Attempt> terminal_attempts();

}  // namespace cellblock::probe
