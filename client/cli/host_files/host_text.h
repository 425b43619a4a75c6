#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/cli/host_files/host_entries.h"

/// A host's configuration with other command lines in it. All else stays byte for byte, comments
/// too. Pure.
namespace cellblock::cli {

struct Connection {
  std::vector<std::string> path;       ///< of the entry
  std::vector<std::string> arguments;  ///< "connect", "files"
};

/// An error: an entry holds a comment or is written so that it cannot be replaced alone.
Result<std::string> connected_text(std::string_view text,
                                   const std::vector<Connection>& connections);

/// `text` with those entries as `before` has them that are cellblock's here and are not there.
Result<std::string> restored_text(std::string_view text, std::string_view before);

/// Restores those entries as `before` has them.
Result<std::vector<HostEntry>> restored_entries(std::string_view text, std::string_view before);

}  // namespace cellblock::cli
