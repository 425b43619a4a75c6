#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/connection/fd.h"
#include "policy/base/result.h"

/// What a daemon keeps about its users, beside its configuration: measured, then removed.
namespace cellblock::cli {

struct DataPlaces {
  std::string state_directory;  ///< homes, accepted definitions, the kill switch
  std::string audit_log;        ///< and its older files beside it: `audit_log`.1, ...
  std::string anchors;          ///< a directory: how far the log was verified; empty: none
};

struct KeptData {
  std::string path;  ///< a file, or a directory with everything in it
  std::string what;  ///< for the person who is asked
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  bool operator==(const KeptData&) const = default;
};

/// Keeps a daemon of this state directory from starting while it is open; no descriptor: there is
/// no such directory, so no daemon. An error: a daemon runs.
Result<client::OwnedFd> lock_state(const std::string& state_directory);

/// What is there. An error: something that is removed with its directory must not be, such as a
/// mounted file system, or cannot be looked at. Links are not followed.
Result<std::vector<KeptData>> kept_data(const DataPlaces& places);

/// Removes it, never through a link. The error says what is left.
Result<void> remove_data(const KeptData& kept);

}  // namespace cellblock::cli
