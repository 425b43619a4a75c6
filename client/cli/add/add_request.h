#pragma once

#include <string>
#include <vector>

#include "client/cli/add/added_proposal.h"
#include "client/cli/add/described_file.h"
#include "client/cli/install/places.h"
#include "policy/base/result.h"

namespace cellblock::cli {

/// `cellblock add`, as it was typed.
struct AddRequest {
  std::string server;
  std::vector<std::string> command;
  std::vector<std::string> environment;  ///< NAME=VALUE, or NAME for what our own says
  std::vector<std::string> settings;     ///< KEY=VALUE, or KEY for what our environment says
  std::vector<std::string> read;
  std::vector<std::string> write;
  std::vector<std::string> egress;
  std::vector<std::string> users;  ///< in system mode: who may use it
};

/// With paths made whole and variables looked up in the environment; an address
/// (`https://host/mcp`) is a line of mcp-remote then, and a file that describes a server is that
/// server. An error: no user is named, a variable that is not there, an address that
/// no cell is let to, a file that asks for what is not given.
Result<AddedServer> added_server(const AddRequest& request, const AddPlaces& places,
                                 const AskSetting& ask = {});

/// The users who may use what is added; an error in system mode where none is named.
Result<std::vector<std::string>> users_of(const std::vector<std::string>& named,
                                          const AddPlaces& places);

/// What the user who imports a configuration gives its servers.
struct ImportedAccess {
  std::vector<std::string> users;
  std::vector<std::string> environment;  ///< names of variables of ours that they may have
  std::vector<std::string> ranges;       ///< "[SERVER=]RANGE:PORT", checked by check_named_ranges
};

/// One server of a host's configuration, under a name of cellblock's. Values that the file leaves
/// to be filled in come from our environment if `access` names them; the file may be from a
/// stranger. An error as in added_server(), or the reason why the server cannot have a cell.
Result<AddedServer> imported_server(const DeclaredServer& declared, const ImportedAccess& access);

/// An error: the name is none, or is declared already.
Result<void> refuse_name(const AddPlaces& places, const std::string& server);

}  // namespace cellblock::cli
