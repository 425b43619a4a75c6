#pragma once

#include "cellblock/error.h"

/// Errors of a Client or Session that was moved from, or that a child of fork() has of its parent.
namespace cellblock::client {

inline Error moved_from() {
  return {.code = ErrorCode::disconnected, .text = "it was moved from, and has no connection"};
}

inline Error of_other_process() {
  return {.code = ErrorCode::other_process,
          .text = "the connection was made before fork(), and is the parent's; connect anew"};
}

}  // namespace cellblock::client
