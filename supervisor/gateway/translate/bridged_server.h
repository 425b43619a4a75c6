#pragma once

#include <string>

#include "policy/config/config.h"

namespace cellblock::gateway {

/// What a bridge must know of the server at its other end.
struct BridgedServer {
  /// Stands before every question that goes on to the host, and in failures; empty: who is behind
  /// the bridge names itself (the aggregate of several servers).
  std::string name;
  /// What it may ask of the host. None of it where its cell is not this session's alone.
  ClientFeatures features;
};

}  // namespace cellblock::gateway
