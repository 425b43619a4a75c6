#pragma once

#include "client/cli/table/command.h"

/// The page in the browser.
namespace cellblock::cli {

extern const Option ui_port;
extern const Option ui_socket;
extern const Option ui_no_open;
extern const Option ui_browser;

Command ui_command();

}  // namespace cellblock::cli
