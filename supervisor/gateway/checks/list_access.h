#pragma once

#include "policy/access/rights.h"
#include "supervisor/gateway/checks/catalogue.h"

namespace cellblock::gateway {

/// What the items of a list are to the rules.
inline AccessKind access_kind(ListKind kind) {
  switch (kind) {
    case ListKind::tools:
      return AccessKind::tool;
    case ListKind::resources:
      return AccessKind::resource;
    case ListKind::resource_templates:
      return AccessKind::resource_template;
    case ListKind::prompts:
      break;
  }
  return AccessKind::prompt;
}

}  // namespace cellblock::gateway
