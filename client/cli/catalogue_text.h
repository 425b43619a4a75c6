#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace cellblock::cli {

/// What is known of what a server offers, from its entry in cellblock/status: a few lines, escaped;
/// empty for a daemon that tells nothing of it.
std::string catalogue_text(const nlohmann::ordered_json& server);

}  // namespace cellblock::cli
