#pragma once

#include <string_view>

namespace cellblock::cli {

/// Whether a part of the path is named as what holds somebody's keys is, mostly.
bool is_secret_path(std::string_view path);

}  // namespace cellblock::cli
