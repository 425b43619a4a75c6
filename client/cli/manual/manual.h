#pragma once

#include <string>
#include <string_view>

#include "client/cli/table/command.h"

/// Manual pages of what is written down elsewhere. Nothing here is written twice.
namespace cellblock::cli {

/// cellblock(1), in the language of man: what the command's flags say of themselves.
std::string manual_page(const Command& program, std::string_view version);

/// cellblock.toml(5): docs/configuration.md and the pages of docs/configuration, one after the
/// other.
std::string configuration_page(std::string_view markdown, std::string_view version);

}  // namespace cellblock::cli
