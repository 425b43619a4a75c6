#pragma once

#include "policy/config/config.h"

namespace cellblock {

/// `[calls.user]`, `[calls.session]`, and part of `[server.NAME.calls]` and of a tool's table
struct CallBoundsTable {
  CallBounds& bounds;
};

template <class Keys>
void visit_keys(Keys& k, CallBoundsTable v) {
  k.rate(v.bounds.rate, "so many for good, and so many at once");
  k.integer("in_flight", v.bounds.in_flight, 1, 100'000, "so many at one time");
}

}  // namespace cellblock
