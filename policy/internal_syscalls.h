#pragma once

#include <cstdint>

#include "policy/syscall_policy.h"

namespace cellblock {

/// cellblock's own processes that live in cells.
enum class InternalProfile : std::uint8_t {
  gateway,       ///< reads what hosts and servers write
  audit_writer,  ///< appends to one descriptor
  init,          ///< pid 1 of a cell, and the server's parent
};

/// Everything returned is in static storage.
SyscallPolicy syscall_policy(InternalProfile profile);

}  // namespace cellblock
