#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/config/config.h"

/// Which directories a host may pass in, as text alone: nothing here looks at a disk.
namespace cellblock {

/// `*` stands for any part of one component's name, `**` (a whole component) for any number of
/// components, none as well. Neither stands for a component that begins with a dot: that has to be
/// written. `absolute_path` is normalised, or nothing matches it.
bool workspace_allows(const Workspace& workspace, std::string_view absolute_path);

/// The components before the first that has a `*` in it: "/home/*/src" -> "/home". Everything that
/// the pattern matches is at or below it.
std::string static_prefix(std::string_view pattern);

/// Why `pattern` is none; none: it is one. The first component has no `*` in it.
std::optional<std::string> pattern_problem(std::string_view pattern);

}  // namespace cellblock
