#pragma once

#include <nlohmann/json_fwd.hpp>

#include "supervisor/gateway/catalogue/catalogue_cache.h"

namespace cellblock::gateway {

/// `catalogue` in one server's entry of cellblock/status: where it comes from and how old it is,
/// which eras the server speaks, and what of its metadata was left out or rewritten.
nlohmann::ordered_json catalogue_json(const CatalogueView& view);

}  // namespace cellblock::gateway
