#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace cellblock {

/// Which build a program is of, as its file tells: an ELF note that `cmake/build_id.cmake` puts
/// into every program. Programs that work together compare theirs.
///
/// `head`: the first `build_id_within` bytes of the file, or all of it. Nothing: there is no such
/// note in them.
std::optional<std::string> build_id_in(std::string_view head);

inline constexpr std::size_t build_id_within = 16384;

}  // namespace cellblock
