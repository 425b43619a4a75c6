#pragma once

#include <string>

#include "policy/sandbox/probe_declaration.h"
#include "supervisor/probe/attempt.h"

/// Which attempts are meant to succeed in a cell.
namespace cellblock::probe {

/// What declares this attempt open, in the words of the configuration or of docs/security.md; empty
/// if nothing does.
std::string declared_by(const Attempt& attempt, const ProbeDeclaration& declaration);

}  // namespace cellblock::probe
