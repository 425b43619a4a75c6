#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "supervisor/os/clock.h"

/// A deadline for a machine that needs one of its own. The machine sets it, the adaptor's timer
/// (or a test) rings it.
namespace cellblock::gateway {

class Alarm {
 public:
  using Rings = std::function<void(Time now)>;

  virtual ~Alarm() = default;
  /// nullopt: not at all. Replaces what was set before.
  virtual void set(std::optional<Milliseconds> from_now) = 0;
};

}  // namespace cellblock::gateway
