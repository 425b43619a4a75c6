#pragma once

#include <string_view>

#include "policy/config_reader/complaint.h"
#include "policy/config_reader/table_text.h"

/// The configuration as it is written: TOML of the right shape and types, nothing resolved, no unit
/// read, no default filled in. Every value knows its place. config_check.h makes a Config of it.
namespace cellblock {

/// What a file may hold: servers.d/*.toml only servers.
enum class FileRole { main, servers_only };

/// Reads what can be read and complains about the rest: syntax, types, unknown keys. Never throws;
/// `text` may be anything at all.
ConfigText parse_config_text(std::string_view text, std::string_view file, FileRole role,
                             Complaints& complaints);

}  // namespace cellblock
