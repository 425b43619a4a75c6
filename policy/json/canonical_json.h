#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace cellblock {

/// The same for all spellings of one value: members in the order of their names' bytes, no blanks,
/// the shortest escapes, text that is no UTF-8 replaced. Only numbers stay as they were written: 1
/// and 1.0 differ. Of trees that read_tree() makes, where a number that a double is not is there as
/// its digits; not deeper than those.
std::string canonical_json(const nlohmann::ordered_json& tree);

/// The same of a value's JSON, without a tree. Nothing where a tree is needed to tell: escapes,
/// text beyond ASCII, numbers but whole ones that a double holds, many levels. `json` is valid,
/// without duplicate names.
std::optional<std::string> canonical_text(std::string_view json);

}  // namespace cellblock
