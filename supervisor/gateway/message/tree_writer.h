#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace cellblock::gateway {

/// A tree of read_tree() as one line of text: its numbers as they were written there, bytes that
/// are no UTF-8 replaced.
std::string write_tree(const nlohmann::ordered_json& tree);

}  // namespace cellblock::gateway
