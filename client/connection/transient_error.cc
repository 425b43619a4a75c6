#include "client/connection/transient_error.h"

namespace cellblock::client {

bool may_pass(ErrorCode code) {
  switch (code) {
    case ErrorCode::unreachable:
    case ErrorCode::disconnected:
    case ErrorCode::too_many:
    case ErrorCode::unavailable:
    case ErrorCode::timed_out:
      return true;
    default:  // whatever is not known to pass
      return false;
  }
}

}  // namespace cellblock::client
