#pragma once

#include "client/cli/table/command.h"

/// What hosts' configurations say of servers.
namespace cellblock::cli {

extern const Option exported_host;
extern const Option exported_servers;

Command export_command();

}  // namespace cellblock::cli
