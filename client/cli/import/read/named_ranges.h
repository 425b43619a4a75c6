#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/base/result.h"

/// Ranges of addresses that are not public, named by the user who adds a server. Pure.
namespace cellblock::cli {

/// Entries of egress.allow. A host that is written as an address can only be itself. What a name
/// leads to is decided by its owner, so a range for names is named for one server.
struct NamedRanges {
  std::vector<std::string> for_addresses;  ///< hosts that are written as an address of the range
  std::vector<std::string> for_names;      ///< hosts that are names
};

/// For hosts of both kinds.
NamedRanges for_any_host(const std::vector<std::string>& rules);

/// An error: a word of `--egress` is not "[SERVER=]RANGE:PORT", or SERVER is none of `servers`.
Result<void> check_named_ranges(const std::vector<std::string>& words,
                                const std::vector<std::string>& servers);

/// What those words name for `server`. "RANGE:PORT" is for addresses, of every server;
/// "SERVER=RANGE:PORT" is for addresses and names, of that server.
NamedRanges named_ranges(const std::vector<std::string>& words, std::string_view server);

}  // namespace cellblock::cli
