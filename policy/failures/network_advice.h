#pragma once

#include <string>
#include <string_view>

#include "policy/config/config.h"

namespace cellblock {

/// For what a server reports: an error in whose text the network failed, as runtimes and C
/// libraries say it, of a cell that has none, or one that egress.allow bounds. Empty: it says
/// nothing of the kind, or the cell has the host's network. Only words of the configuration are in
/// it, none of the report. `allow`: the TOML that would allow the name which the server's cells
/// were refused last; empty: none. Pure.
std::string network_advice_for_report(const Server& server, std::string_view report,
                                      std::string_view allow);

}  // namespace cellblock
