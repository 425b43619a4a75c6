#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "supervisor/kernel/sys.h"

namespace cellblock::launcher {

/// Addresses as EgressRule has them: IPv4 as ::ffff:a.b.c.d, its prefixes from 96 on.
struct AddressRange {
  std::array<std::uint8_t, 16> address{};
  std::uint8_t prefix = 0;  ///< bits of `address`; those behind it do not matter

  bool is_ipv4() const;
};

/// Makes every address of the ranges one of this host's own, in the network namespace of the
/// caller: what connects to it is answered by whoever listens on all addresses. A range that is
/// local already stays so. Needs CAP_NET_ADMIN there. (rtnetlink(7), RTN_LOCAL.)
SysResult<void> make_local(const std::vector<AddressRange>& ranges);

}  // namespace cellblock::launcher
