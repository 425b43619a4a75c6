#pragma once

#include <string>
#include <vector>

#include "client/cli/import/read/named_ranges.h"
#include "policy/base/result.h"

namespace cellblock::cli {

/// Adds the entries of egress.allow for the host of `url`: its name, and where the name leads to an
/// address that is not public, that address as well: this machine's configuration names it, so it
/// is meant. An error: an address that cannot be read, has a password, or cannot be allowed.
Result<void> add_registry_rules(const std::string& url, std::vector<std::string>& rules);

/// Whether a registry may have an address that is not public, and by whose decision.
struct PrivateAddresses {
  bool any = false;   ///< the user typed the registry's name, and so means its addresses
  NamedRanges named;  ///< what else is meant
};

/// The same for the host of `url`, which a server's line names: perhaps a stranger's. An address
/// that is not public is an error unless `meant` has it.
Result<void> add_named_registry_rules(const std::string& url, const PrivateAddresses& meant,
                                      std::vector<std::string>& rules);

/// The rules among `rules` that name addresses which are not public.
std::vector<std::string> private_rules(const std::vector<std::string>& rules);

}  // namespace cellblock::cli
