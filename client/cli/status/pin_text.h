#pragma once

#include <string>

#include "client/cli/terminal/json_text.h"
#include "client/cli/terminal/style.h"

/// Definitions of an answer to cellblock/pins, for a person.
namespace cellblock::cli {

bool is_withheld(const Json& definition);

/// `tool "read_file"`
std::string pin_label(const Json& definition);

/// How a server's definitions are pinned. `for_flag`: behind a command that is named, " --for
/// alice" or nothing.
std::string server_line(const Json& server, const std::string& for_flag);

/// Whether it is pinned; lines of their own.
std::string definition_text(const Json& definition, Style style);

/// What is withheld, line by line beside what was pinned.
std::string withheld_text(const Json& server, const Json& definition, Style style);

}  // namespace cellblock::cli
