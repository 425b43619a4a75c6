#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Which environment variables a server may be given.
namespace cellblock {

/// [A-Za-z_][A-Za-z0-9_]*, at most 128 bytes.
bool is_variable_name(std::string_view name);

/// Why a variable of this name is never set from the configuration; none: it may be. PATH, LANG and
/// TZ may be: they override the cell's own.
std::optional<std::string> variable_problem(std::string_view name);

}  // namespace cellblock
