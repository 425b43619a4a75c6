#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/cli/add/origin.h"
#include "client/cli/common/context.h"
#include "client/cli/install/places.h"

/// The servers that cellblock has, as its configurations on this machine declare them.
namespace cellblock::cli {

struct OwnServer {
  std::string name;
  std::vector<std::string> arguments;  ///< of `cellblock`, to reach it: "--user", "connect", "x"
  std::optional<Origin> origin;        ///< none: it was not added by `cellblock add`
  std::vector<std::string> command;    ///< of its declaration
  /// What it is given, by name. No value: it cannot be seen from here.
  std::map<std::string, std::optional<std::string>> variables;
};

/// Of one configuration; what cannot be read of it is left out.
std::vector<OwnServer> declared_in(const AddPlaces& places);

/// Of those that the command was asked about, the user's own first.
std::vector<OwnServer> own_servers(const Context& context);

}  // namespace cellblock::cli
