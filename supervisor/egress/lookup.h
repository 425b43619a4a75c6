#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "policy/egress/special_addresses.h"

namespace cellblock::egress {

enum class LookupStatus : std::uint8_t {
  found,
  no_such_name,
  no_address,  ///< the name is there, with other records
  failed,      ///< no resolver answered, or not sensibly
};

/// More addresses of one name are left out.
inline constexpr std::size_t max_addresses = 16;

struct LookupResult {
  LookupStatus status = LookupStatus::failed;
  std::vector<InternetAddress> addresses;
};

}  // namespace cellblock::egress
