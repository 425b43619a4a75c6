#pragma once

#include <vector>

#include "policy/base/internet_address.h"
#include "supervisor/os/sys.h"

namespace cellblock::launcher {

/// Makes every address of the ranges one of this host's own, in the network namespace of the
/// caller: what connects to it is answered by whoever listens on all addresses. A range that is
/// local already stays so. Needs CAP_NET_ADMIN there. (rtnetlink(7), RTN_LOCAL.)
SysResult<void> make_local(const std::vector<AddressRange>& ranges);

}  // namespace cellblock::launcher
