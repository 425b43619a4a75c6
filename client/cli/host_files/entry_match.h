#pragma once

#include <string>
#include <vector>

#include "client/cli/host_files/entry_place.h"
#include "client/cli/host_files/own_servers.h"
#include "client/cli/import/machine_view.h"

/// Which of cellblock's servers an entry of a host's file starts. Where there is a doubt the entry
/// stays: another server, or the same one with other secrets, would be started in its place. Pure
/// but for what is asked of `machine`.
namespace cellblock::cli {

struct EntryFate {
  const HostEntry* entry = nullptr;
  std::vector<std::string> arguments;  ///< of `cellblock`; empty: it stays
  std::string why_it_stays;
};

/// Of all entries that do not start cellblock yet. `here`: the directory for relative paths of
/// those that belong to no project and name none.
std::vector<EntryFate> fates_of(const std::vector<HostEntry>& entries,
                                const std::vector<OwnServer>& servers, const std::string& here,
                                const MachineView& machine);

/// Where an entry stands, for people: "projects./home/a.mcpServers.files".
std::string path_text(const std::vector<std::string>& path);

}  // namespace cellblock::cli
