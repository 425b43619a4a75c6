#pragma once

#include "policy/config/config.h"
#include "policy/config/config_bytes.h"

/// The secrets of a configuration that was merged with one in use. Pure.
namespace cellblock {

/// `secrets` of `fresh`, each at the place that its server has in `merged`; moved, not copied.
Secrets in_places_of(const Config& merged, const Config& fresh, Secrets secrets);

/// Marks have a random key, so a secret that is what it was has others. Where all values of a
/// server are the ones that `used` was marked by, its marks are taken over.
void keep_marks(const Config& used, Config& fresh, const Secrets& secrets);

}  // namespace cellblock
