#pragma once

#include "policy/failures/failure.h"
#include "policy/jsonrpc/jsonrpc.h"

namespace cellblock::gateway {

/// By itself: nothing that was said before binds it.
inline Era era_of(const Message& message) {
  return message.is_modern() ? Era::modern : Era::legacy;
}

}  // namespace cellblock::gateway
