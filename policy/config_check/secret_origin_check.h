#pragma once

#include "policy/config/config.h"
#include "policy/config/host_facts.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/secret_text.h"

namespace cellblock {

/// Where a secret's value comes from, into `secret`. False: nowhere good, and complained about.
bool check_secret_origin(const Scope& scope, const SecretText& text, const HostFacts& facts,
                         SecretVariable& secret);

}  // namespace cellblock
