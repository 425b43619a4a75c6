#pragma once

#include <cstddef>
#include <string>

#include "policy/base/result.h"

/// A host's configuration on disk: the user's own file, which the host reads and writes too.
namespace cellblock::cli {

/// `~/.claude.json` keeps more than servers.
inline constexpr std::size_t max_host_file_bytes = 16U << 20;

/// An error: it is a link, no regular file, another user's, has a second name, or is too long.
Result<std::string> own_file(const std::string& path);

/// Puts `text` into its place at once, with its mode and group, if it still says `before`.
Result<void> replace_own_file(const std::string& path, const std::string& before,
                              const std::string& text);

}  // namespace cellblock::cli
