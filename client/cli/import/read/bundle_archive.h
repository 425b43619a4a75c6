#pragma once

#include <cstddef>
#include <string>

#include "policy/base/result.h"

namespace cellblock::cli {

/// Whether the file begins as a zip archive does; false also where it cannot be read.
bool is_zip(const std::string& path);

/// The `manifest.json` of a packed MCPB bundle. Nothing is unpacked. Untrusted: at most `most`
/// bytes of it, found among at most 65,536 members.
Result<std::string> packed_manifest(const std::string& path, std::size_t most);

}  // namespace cellblock::cli
