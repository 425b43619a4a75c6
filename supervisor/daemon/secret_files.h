#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>
#include <string>

#include "policy/result.h"

/// Files under `env_from_file`. Read once, by the supervisor alone.
namespace cellblock {

inline constexpr std::size_t max_secret_bytes = 64U << 10;

/// The content without one trailing newline. The file must be no symbolic link, owned by one of
/// `owners`, closed to group and others (0640 passes if its group is root), in directories that
/// only `owners` can change. Errors never quote the content. The caller wipes it; no other copy is
/// left.
Result<std::string> read_secret_file(const std::string& path, std::span<const uid_t> owners);

}  // namespace cellblock
