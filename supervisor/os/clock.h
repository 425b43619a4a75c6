#pragma once

#include <chrono>

/// Time as the gateway's machines see it: handed in with each event, never asked for.
namespace cellblock::gateway {

using Milliseconds = std::chrono::milliseconds;
using Time = std::chrono::steady_clock::time_point;

}  // namespace cellblock::gateway
