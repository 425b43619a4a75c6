#pragma once

#include "client/cli/add/origin.h"
#include "client/cli/supply_chain/bom.h"
#include "policy/base/result.h"

namespace cellblock::cli {

/// What an added server is made of, from the files of its installation. An error: nothing was
/// installed for it, or its lock file cannot be read.
Result<Bom> installed_bom(const Origin& origin);

}  // namespace cellblock::cli
