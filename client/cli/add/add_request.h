#pragma once

#include <string>
#include <vector>

#include "client/cli/add/added_proposal.h"
#include "client/cli/add/places.h"
#include "policy/base/result.h"

namespace cellblock::cli {

/// `cellblock add`, as it was typed.
struct AddRequest {
  std::string server;
  std::vector<std::string> command;
  std::vector<std::string> environment;  ///< NAME=VALUE, or NAME for what our own says
  std::vector<std::string> read;
  std::vector<std::string> write;
  std::vector<std::string> egress;
  std::vector<std::string> users;  ///< in system mode: who may use it
  bool agrees = false;             ///< to what is shown, without being asked
  bool runs_scripts = false;
};

/// With paths made whole and variables looked up in the environment. An error: nobody is named who
/// may use it, a variable that is not there, an address in place of a command.
Result<AddedServer> added_server(const AddRequest& request, const AddPlaces& places);

/// An error: the name is none, or is declared already.
Result<void> refuse_name(const AddPlaces& places, const std::string& server);

}  // namespace cellblock::cli
