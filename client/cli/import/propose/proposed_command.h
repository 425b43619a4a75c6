#pragma once

#include <optional>
#include <string>

#include "client/cli/import/propose/machine_view.h"
#include "client/cli/import/propose/proposal.h"
#include "client/cli/import/read/declared_server.h"
#include "client/cli/import/read/package_run.h"

/// The command of a proposed declaration, with the placeholders of hosts filled in.
namespace cellblock::cli {

/// What placeholders of hosts stand for in a cell.
struct PlaceholderValues {
  std::string own_directory;  ///< `${__dirname}`
};

/// `text` with those filled in that have one meaning: the workspace, a bundle's directory, defaults
/// (`${NAME:-default}`). The others stay.
std::string filled_in(const std::string& text, const PlaceholderValues& values);

/// Command, program and profile, and what has to be installed first. Or `obstacle`.
void propose_command(const DeclaredServer& server, const MachineView& machine, const Places& places,
                     Proposal& proposal);

/// The package that a server runs, by its command or as its description says. None: it runs none.
Result<std::optional<PackageRun>> package_run_of(const DeclaredServer& server);

/// The text as one word of a shell.
std::string shell_word(const std::string& text);
/// The same, as it is where nothing in it means anything to one: a shell at a terminal reads more
/// into "!" than a version.
std::string plain_or_shell_word(const std::string& text);

}  // namespace cellblock::cli
