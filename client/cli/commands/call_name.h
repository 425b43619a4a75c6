#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cellblock/error.h"

/// How a call that waits for an approval is named. Pure, but for the accounts of this host.
namespace cellblock::cli {

/// A waiting call in one user's gateway.
struct CallName {
  std::uint32_t uid = 0;
  std::uint64_t number = 0;

  bool operator==(const CallName&) const = default;
};

/// "UID.NUMBER", as it is listed and as its caller is told.
std::string text_of(const CallName& name);

/// From "UID.NUMBER" or "USER.NUMBER". No value: the text names no call.
std::optional<CallName> call_name(std::string_view text);

/// From a number alone, which no server's or definition's name is.
std::optional<std::uint64_t> call_number(std::string_view text);

/// The call that `number` alone means, of the waiting ones that have it. An error names them all
/// where there are several, and says that none waits where there is none.
client::Result<CallName> only_one(std::uint64_t number, const std::vector<CallName>& waiting);

/// The error that no such call waits.
client::Error none_waits(std::string_view id);

}  // namespace cellblock::cli
