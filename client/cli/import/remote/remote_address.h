#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/cli/import/read/named_ranges.h"
#include "policy/base/result.h"

/// Addresses of servers that are reached over HTTP, and what a cell has to be let to for them.
/// Pure.
namespace cellblock::cli {

struct RemoteAddress {
  std::string url;        ///< as its cell is told: `localhost` would be the cell itself
  std::string host;       ///< a name, an IPv4 address, or an IPv6 address in brackets
  std::string rule;       ///< the entry of egress.allow
  bool is_plain = false;  ///< http, which is not encrypted
};

/// "https://host/mcp": a word that is no program.
bool is_address(std::string_view word);

/// An error: no address of a server, or one with a password, key or token in it, which would stand
/// in a command line. It repeats none of them.
Result<RemoteAddress> remote_address(const std::string& url);

/// The range that names `address` where it is one of this machine or of a private network. Empty:
/// it is a name, is public, or is nothing that may be proposed.
std::string private_range(const RemoteAddress& address);

/// Entries of egress.allow. An address that is not public needs a range of `named` that has it; a
/// name with http needs one that says to where the name leads, since http goes to no public
/// address. An error says which.
Result<std::vector<std::string>> rules_for(const RemoteAddress& address, const NamedRanges& named);

}  // namespace cellblock::cli
