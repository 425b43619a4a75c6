#pragma once

#include <string>

#include "client/cli/add/new_server.h"
#include "client/cli/common/prompt.h"
#include "client/cli/import/propose/proposal.h"
#include "policy/base/result.h"

/// A remote server is authorized in a cell of its own, before it is started for hosts.
namespace cellblock::cli {

/// Whether its first start ended because no authorization was there.
bool needs_authorization(const Trial& trial);

/// The cell of a remote server that `cellblock add` declared. An error: the declaration has been
/// changed.
Result<Proposal> declared_remote(const std::string& text, const std::string& server);

/// Runs mcp-remote in the cell of `proposal`, whose secrets are there, tells where a person has to
/// go, and waits until the browser comes back. The directory with what came of it, in the scratch.
/// An error: the server asks for no authorization, the user refused, or did not come in time.
Result<std::string> run_authorization(const Work& work, const Proposal& proposal,
                                      const Interruption& interruption);

/// The same cell with that directory in place of what its home keeps: a refresh token may be good
/// once, so what a trial renews must not be lost. Pure.
Proposal with_authorization_in(const std::string& directory, Proposal proposal);

/// What is in such a directory, as the value of a secret. Call it when all cells with it have
/// ended.
Result<std::string> obtained_authorization(const Work& work, const std::string& directory);

}  // namespace cellblock::cli
