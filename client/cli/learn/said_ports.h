#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace cellblock::cli {

/// The ports of the loopback that a line of somebody's output says could not be connected to:
/// "connect EACCES 127.0.0.1:5432", "dial tcp [::1]:6379: connect: connection refused". At most
/// four, each once; none of a line that tells of no such failure. In a cell the loopback is the
/// cell's own, so whoever says it may mean the host's. Pure.
std::vector<std::uint16_t> said_loopback_ports(std::string_view line);

}  // namespace cellblock::cli
