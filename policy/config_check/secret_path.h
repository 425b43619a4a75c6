#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "policy/base/result.h"
#include "policy/config_reader/table_text.h"

/// `${secret:NAME}` in an argument of `command` or a value of `env`: the path by which the server
/// reads that secret. The value itself stands in neither.
namespace cellblock {

inline constexpr std::string_view secret_placeholder = "${secret:";

/// What becomes of `$${`, which keeps a placeholder from being one.
enum class Escape : std::uint8_t {
  removed,  ///< `$${secret:` becomes `${secret:`; other `$${` stay
  kept,     ///< for environment_rules.h, which removes it at the start of a cell
};

/// `text` with a path for each `${secret:NAME}`. NAME is one of `secret_files` or `secret_memfds`
/// of `server`, whether or not its value can be had. The error says what to declare.
Result<std::string> with_secret_paths(std::string_view text, const ServerText& server,
                                      Escape escape);

}  // namespace cellblock
