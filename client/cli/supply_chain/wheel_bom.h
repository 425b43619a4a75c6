#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "client/cli/supply_chain/bom.h"
#include "policy/base/result.h"

/// The packages of PyPI in a lock file. Pure.
namespace cellblock::cli {

/// The METADATA of an installed wheel, by the name and version in the lock file; empty: there is
/// none.
using WheelMetadata =
    std::function<std::string(const std::string& name, const std::string& version)>;

/// `lock`: a requirements.lock as the installation wrote it, untrusted. An error: it has more than
/// 20,000 lines.
Result<std::vector<BomComponent>> wheel_components(std::string_view lock,
                                                   const WheelMetadata& metadata);

}  // namespace cellblock::cli
