#pragma once

#include <cstddef>
#include <string>

#include "client/cli/install/package_installer.h"
#include "client/cli/install/scratch.h"
#include "policy/base/result.h"

/// A packed MCP bundle, which is unpacked in a cell.
namespace cellblock::cli {

inline constexpr std::size_t most_bundle_bytes = 256U << 20;

/// Copies the archive to `scratch`, for a cell without a network that unpacks it. An error: it is
/// no regular file, longer than 256 MiB, or there is no Python that cells see.
Result<PackageInstaller> bundle_installer(const std::string& archive, const Scratch& scratch);

}  // namespace cellblock::cli
