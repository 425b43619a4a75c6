#pragma once

#include <string_view>

namespace cellblock::cli {

/// Whether a part of the path has a name that files with keys usually have.
bool is_secret_path(std::string_view path);

}  // namespace cellblock::cli
