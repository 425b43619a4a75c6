#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "policy/base/result.h"

namespace cellblock::cli {

/// All of a regular file, or of stdin for "-". An error: it cannot be read, or is longer than that.
Result<std::string> bounded_file(const std::string& path, std::size_t most);

/// The same of what is open already. `path`: for the errors.
Result<std::string> read_all(int descriptor, const std::string& path, std::size_t most);
Result<void> write_all(int descriptor, const std::string& path, std::string_view text);

/// Writes a new file that every user may read. An existing file is not changed.
Result<void> write_new_file(const std::string& path, const std::string& text);

}  // namespace cellblock::cli
