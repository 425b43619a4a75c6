#pragma once

#include "client/cli/common/context.h"
#include "client/cli/setup/setup_plan.h"
#include "policy/base/result.h"

/// The user's own cellblockd, as a service of systemd.
namespace cellblock::cli {

ServiceFacts service_facts(const Context& context);

/// Starts its socket, now and with each login. An error: what systemctl said.
Result<void> enable_service();

}  // namespace cellblock::cli
