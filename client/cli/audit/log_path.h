#pragma once

#include <string>

#include "client/cli/common/configuration.h"

namespace cellblock::cli {

/// Where the audit log is: daemon.audit_log of this configuration, as far as it can be read here,
/// else the default of its daemon.
std::string audit_log_path(const Configuration& configuration);

}  // namespace cellblock::cli
