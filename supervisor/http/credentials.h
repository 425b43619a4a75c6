#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "policy/config/config.h"

namespace cellblock::http {

/// The bearer tokens, by their digests. A token itself is in this process only until the headers
/// that a host sent with it have been looked at (wiping.h).
class Credentials {
 public:
  explicit Credentials(std::vector<HttpToken> tokens) : tokens_(std::move(tokens)) {}

  /// The index of the token that the value of `Authorization` carries. Takes as long for a wrong
  /// one as for a right one.
  std::optional<std::uint32_t> find(std::string_view authorization) const;

  /// Whether there is one at all.
  static bool carries_token(std::string_view authorization);

 private:
  std::vector<HttpToken> tokens_;
};

}  // namespace cellblock::http
