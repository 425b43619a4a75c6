#pragma once

#include <cstdint>
#include <string>

namespace cellblock::cli {

/// "12 KiB", "3.5 MiB".
std::string size_text(std::uint64_t bytes);

}  // namespace cellblock::cli
