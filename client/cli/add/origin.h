#pragma once

#include <string>
#include <vector>

#include "cellblock/error.h"
#include "client/cli/import/read/declared_server.h"
#include "client/cli/install/places.h"
#include "client/cli/install/registry_report.h"
#include "policy/base/result.h"

namespace cellblock::cli {

/// What was known of a version when it was installed, to compare with later.
struct InstallRecord {
  std::string installed;                 ///< "2026-11-28T08:00:00Z"; empty: not recorded
  std::vector<std::string> maintainers;  ///< of the package; empty: the registry did not say
  std::string publisher;                 ///< of that version; or empty
  bool is_signed = false;                ///< the registry signed its packages

  bool operator==(const InstallRecord&) const = default;
};

/// Of an installation at this moment.
InstallRecord record_of(const RegistryReport& report);

/// What is kept of an added server beside its files: origin.json.
struct Origin {
  std::vector<std::string> command;  ///< as it was given
  Registry registry = Registry::npm;
  std::string package;  ///< "@scope/name"; empty: it is no package
  std::string version;
  std::string directory;  ///< where that version is; empty without a package
  std::string previous;   ///< the directory of the version before; empty: none is kept
  bool runs_scripts = false;
  /// Entries of egress.allow for the registry that the server's line names, if its addresses are
  /// not public.
  std::vector<std::string> private_addresses;
  InstallRecord record;           ///< of `directory`
  InstallRecord previous_record;  ///< of `previous`

  bool operator==(const Origin&) const = default;
};

std::string origin_text(const Origin& origin);
Result<Origin> read_origin(const std::string& text);

/// The directory of one server below `places.servers`.
std::string directory_of(const AddPlaces& places, const std::string& server);
/// Whether `cellblock add` made it, or what is left of it. Its origin may be unreadable.
bool was_added(const AddPlaces& places, const std::string& server);
/// What is said of a server that was not.
client::Error not_added(const std::string& server);
/// An error: it was not added by `cellblock add`.
Result<Origin> origin_of(const AddPlaces& places, const std::string& server);
Result<void> write_origin(const AddPlaces& places, const std::string& server, const Origin& origin);
/// Sorted by name; servers whose origin cannot be read are included.
std::vector<std::string> added_servers(const AddPlaces& places);

/// The added servers that such a line starts: the same package with the same arguments, in the
/// version that the line names if it names one, or else the same words.
std::vector<std::string> servers_with_line(const AddPlaces& places,
                                           const std::vector<std::string>& command);
/// Whether a line starts what was added by that one. Pure.
bool starts_the_same(const Origin& origin, const std::vector<std::string>& command);

/// Puts `text` into the place of that file at once, or leaves it as it was. Its mode stays; one
/// that is new has `usual`.
Result<void> replace_file(const std::string& path, const std::string& text, unsigned usual);

}  // namespace cellblock::cli
