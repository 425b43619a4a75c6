#pragma once

#include <string_view>

#include "policy/probe_declaration.h"

/// Which attempts are meant to succeed in a cell.
namespace cellblock::probe {

/// What declares this attempt open, in the words of the configuration or of docs/security.md; empty
/// if nothing does.
std::string_view declared_by(std::string_view id, const ProbeDeclaration& declaration);

}  // namespace cellblock::probe
