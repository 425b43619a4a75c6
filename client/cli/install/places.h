#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "client/cli/common/context.h"
#include "policy/base/result.h"

namespace cellblock::cli {

/// Where `cellblock add` puts its files: for root the system's places, or those beside a
/// configuration that CELLBLOCK_CONFIG names; else the user's own.
struct AddPlaces {
  Mode mode = Mode::user;
  std::string main_file;     ///< the configuration
  std::string declarations;  ///< its servers.d: a file for each server
  std::string secrets;       ///< a file for each secret
  std::string servers;       ///< a directory for each installed server
};

/// `mode`: the user's or the system's. For looking only: nothing says that we may write there.
AddPlaces places_of(const Context& context, Mode mode);

/// For the requested mode; root's default is the system. An error: an ordinary user asks for the
/// system's daemon.
Result<AddPlaces> add_places(const Context& context);

/// The group of the system's cellblock, as its configuration says; none for a user's own. An error:
/// there is no such group.
Result<std::optional<unsigned>> daemon_group(const AddPlaces& places);

/// The tables of a private daemon's configuration other than [server]: those of `places.main_file`,
/// with sockets and files of its own in `directory`. Its ids differ from the running daemon's, so
/// the cells of one are strangers to the other's.
Result<std::string> private_daemon_toml(const AddPlaces& places, const std::string& directory);

}  // namespace cellblock::cli
