#pragma once

#include "client/cli/table/command.h"

/// MCP servers outside cells.
namespace cellblock::cli {

extern const Option scan_probe;
extern const Option scan_against;

Command scan_command();

}  // namespace cellblock::cli
