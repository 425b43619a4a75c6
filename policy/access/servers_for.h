#pragma once

#include "policy/access/subject.h"
#include "policy/base/server_set.h"
#include "policy/config/config.h"

namespace cellblock {

/// Those that this person may use. Of a configuration with more than max_servers, which no check
/// passes, those beyond are in no set.
ServerSet servers_for(const Config& config, const Subject& subject);

}  // namespace cellblock
