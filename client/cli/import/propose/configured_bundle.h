#pragma once

#include <vector>

#include "client/cli/import/read/bundle_settings.h"
#include "client/cli/import/read/declared_server.h"
#include "policy/base/result.h"

namespace cellblock::cli {

/// The server with `${user_config.KEY}` filled in. A variable that a secret is a part of is a
/// secret; one that names an optional setting without a value, or what only another kind of host
/// fills in, is left out. An error: a secret, or a setting without a value, is a part of the
/// command.
Result<DeclaredServer> with_settings(DeclaredServer server,
                                     const std::vector<BundleSetting>& settings,
                                     const SettingValues& values);

}  // namespace cellblock::cli
