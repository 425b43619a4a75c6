#pragma once

#include "supervisor/gateway/message/json_tree.h"

namespace cellblock::gateway {

/// Whether the capability `kind` says `what` ("listChanged", "subscribe").
inline bool offers(const Json& capabilities, const char* kind, const char* what) {
  const Json* found = object_in(capabilities, kind);
  return found != nullptr && says(*found, what);
}

}  // namespace cellblock::gateway
