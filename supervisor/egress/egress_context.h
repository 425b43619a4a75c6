#pragma once

#include <string_view>

#include "policy/config/config.h"
#include "supervisor/egress/budgets.h"
#include "supervisor/egress/dns_responder.h"
#include "supervisor/egress/resolver.h"
#include "supervisor/os/event_loop.h"

namespace cellblock::egress {

/// What all connections of one cell share. Outlives them.
struct EgressContext {
  EventLoop& loop;
  const Egress& rules;
  NameTable& names;
  Resolver& resolver;
  ByteBudget& budget;
  QuestionBudget& questions;
  TellEvent tell;
};

}  // namespace cellblock::egress
