#pragma once

#include <cstdint>
#include <string>

#include "client/cli/common/context.h"

/// Which configuration is meant, for all commands that read one or what it names.
namespace cellblock::cli {

enum class FoundBy : std::uint8_t { variable, place };

struct Configuration {
  Mode mode = Mode::system;  ///< of its daemon: system or user
  std::string path;
  FoundBy by = FoundBy::place;
};

/// CELLBLOCK_CONFIG, else where the daemon looks that --user, --system, or neither means. Neither:
/// the one that other commands reach (your own where its socket is), else your own where there is
/// no system's; for root always the system's.
Configuration configuration_of(const Context& context);

/// Where a user's own cellblock installs servers: $XDG_DATA_HOME/cellblock.
std::string user_data_directory();

}  // namespace cellblock::cli
