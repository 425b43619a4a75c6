#pragma once

#include <string>

#include "client/cli/add/interruption.h"
#include "client/cli/common/context.h"

/// How commands that install speak with whoever typed them: on stderr, so that stdout is the
/// result.
namespace cellblock::cli {

/// One line about what is done now; not with --json.
void tell(const Context& context, const std::string& line);

/// Whether somebody can be asked: a terminal, and no --json.
bool can_ask(const Context& context);
inline constexpr const char* nobody_to_ask =
    "nobody can be asked here: --yes does it without a question";

/// Asks, and waits for a line or a stop. Nothing but "y" and "yes" is a yes.
bool agrees(const Interruption& interruption, const std::string& question);

}  // namespace cellblock::cli
