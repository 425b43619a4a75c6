#pragma once

#include "policy/config/config.h"
#include "policy/config_reader/complaint.h"
#include "policy/config_reader/config_text.h"

namespace cellblock {

/// `[catalogue]`: what is kept of the servers' lists.
CatalogueRules check_catalogue(Complaints& complaints, const ConfigText& main);

}  // namespace cellblock
