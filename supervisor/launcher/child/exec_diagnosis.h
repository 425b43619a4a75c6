#pragma once

#include "policy/failures/setup_step.h"

namespace cellblock::launcher {

/// Why execve of `path` failed with `error`, found by looking at the file from inside the cell,
/// with the server's own rights. Rules as in child_setup.h.
ExecDetail diagnose_exec(const char* path, int error) noexcept;

}  // namespace cellblock::launcher
