#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace cellblock::cli {

/// One line of a server's description: the label in a column of its own, then the text, escaped.
std::string labelled_line(std::string_view label, std::string_view text);

/// What is known of what a server offers, from its entry in cellblock/status: a few lines, escaped;
/// empty for a daemon that tells nothing of it.
std::string catalogue_text(const nlohmann::ordered_json& server);

}  // namespace cellblock::cli
