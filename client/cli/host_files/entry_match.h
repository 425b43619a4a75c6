#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/cli/add/origin.h"
#include "client/cli/common/context.h"
#include "client/cli/host_files/host_entries.h"
#include "client/cli/import/propose/machine_view.h"
#include "client/cli/install/places.h"

/// Which of cellblock's servers an entry of a host's file starts. Where there is a doubt the entry
/// stays: another server, or the same one with other secrets, would be started in its place. Pure
/// but for what is asked of `machine`.
namespace cellblock::cli {

/// A server that cellblock has, as a configuration on this machine declares it.
struct OwnServer {
  std::string name;
  std::vector<std::string> arguments;  ///< of `cellblock`, to reach it: "--user", "connect", "x"
  std::optional<Origin> origin;        ///< none: it was not added by `cellblock add`
  std::vector<std::string> command;    ///< of its declaration
  /// What it is given, by name. No value: it cannot be seen from here.
  std::map<std::string, std::optional<std::string>> variables;
};

/// The servers of one configuration; what cannot be read is left out.
std::vector<OwnServer> declared_in(const AddPlaces& places);

/// The servers of the configurations that the command was asked about, the user's own first.
std::vector<OwnServer> own_servers(const Context& context);

/// What becomes of one entry of a host's file.
struct EntryFate {
  const HostEntry* entry = nullptr;
  std::vector<std::string> arguments;  ///< of `cellblock`; empty: it stays
  std::string why_it_stays;
};

/// For all entries that do not start cellblock yet. `here`: the directory for relative paths of
/// entries that belong to no project and name none.
std::vector<EntryFate> fates_of(const std::vector<HostEntry>& entries,
                                const std::vector<OwnServer>& servers, const std::string& here,
                                const MachineView& machine);

/// The place of an entry, for people: "projects./home/a.mcpServers.files".
std::string path_text(const std::vector<std::string>& path);

}  // namespace cellblock::cli
