#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "client/cli/import/remote/remote_address.h"
#include "policy/base/result.h"

/// Options of mcp-remote that a remote server's line may have. Pure.
namespace cellblock::cli {

enum class OptionUse : std::uint8_t {
  flag,   ///< kept
  value,  ///< kept, with its value
  dropped,
  dropped_value,
};

/// nullopt: a cell cannot keep it.
std::optional<OptionUse> use_of_option(std::string_view name);

/// A kept value stands in a command line, which every user of the machine can read. An error: it is
/// not of its option's form, would be read as another option or as a file, or has what looks like a
/// secret. The error does not repeat the value.
Result<void> check_option_value(const std::string& name, const std::string& value);

/// For the line of a file, which may be untrusted. An error: the value names another host than the
/// server's address, so that the server at the address would get what is meant for that host.
Result<void> check_option_host(const std::string& name, const std::string& value,
                               const RemoteAddress& address);

}  // namespace cellblock::cli
