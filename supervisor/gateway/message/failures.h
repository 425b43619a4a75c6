#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "policy/failures/failure.h"

namespace cellblock::gateway {

/// A failure that is not the end of a cell.
inline Failure plain_failure(FailureCode code, std::string message, std::string_view server = {}) {
  Failure failure;
  failure.code = code;
  failure.message = std::move(message);
  failure.server = server;
  return failure;
}

}  // namespace cellblock::gateway
