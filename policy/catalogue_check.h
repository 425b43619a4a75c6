#pragma once

#include "policy/complaint.h"
#include "policy/config.h"
#include "policy/config_text.h"

namespace cellblock {

/// `[catalogue]`: what is kept of the servers' lists.
CatalogueRules check_catalogue(Complaints& complaints, const ConfigText& main);

}  // namespace cellblock
