#pragma once

#include <string>
#include <string_view>

namespace cellblock::daemon {

/// A helper program of cellblock: beside the running executable (a build tree), else where it is
/// installed.
std::string helper_path(std::string_view name);

}  // namespace cellblock::daemon
