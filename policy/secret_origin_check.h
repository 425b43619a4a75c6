#pragma once

#include "policy/config.h"
#include "policy/host_facts.h"
#include "policy/secret_text.h"
#include "policy/value_check.h"

namespace cellblock {

/// Where a secret's value comes from, into `secret`. False: nowhere good, and complained about.
bool check_secret_origin(const Scope& scope, const SecretText& text, const HostFacts& facts,
                         SecretVariable& secret);

}  // namespace cellblock
