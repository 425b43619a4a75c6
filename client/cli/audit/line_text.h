#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "client/cli/terminal/style.h"

namespace cellblock::cli {

/// One line of the audit log for a person: when, who, what, about what, and how it went. Escaped;
/// at most `columns` wide, 0: the whole.
std::string audit_line_text(const nlohmann::json& line, const Style& style, std::size_t columns);

}  // namespace cellblock::cli
