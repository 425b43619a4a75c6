#include "client/cli/setup/host_servers.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "client/cli/common/prompt.h"
#include "client/cli/host_files/entry_match.h"
#include "client/cli/host_files/host_change.h"
#include "client/cli/host_files/host_entries.h"
#include "client/cli/host_files/host_file.h"
#include "client/cli/import/propose/machine_view.h"
#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

Result<std::vector<HostEntry>> entries_in(const std::string& file) {
  const auto text = CELLBLOCK_TRY(own_file(file));
  auto entries = host_entries(text);
  if (entries) return entries;
  return fail(fmt::format("{}: {}", safe_line(file), entries.error().text));
}

// Those that cellblock has become `cellblock connect` later.
std::vector<std::string> fresh_names(const std::vector<HostEntry>& entries,
                                     const std::vector<OwnServer>& servers,
                                     const std::string& home) {
  std::vector<std::string> names;
  for (const auto& fate : fates_of(entries, servers, home, this_machine())) {
    if (fate.arguments.empty()) names.push_back(fate.entry->name());
  }
  return names;
}

std::vector<std::string> names_of(const std::vector<OwnServer>& servers) {
  std::vector<std::string> names;
  names.reserve(servers.size());
  for (const auto& server : servers) names.push_back(server.name);
  return names;
}

}  // namespace

std::vector<HostServers> servers_of_hosts(const Context& context, const std::string& home) {
  const auto servers = own_servers(context);
  const auto declared = names_of(servers);
  std::vector<HostServers> found;
  for (const auto& place : host_places(home, home)) {
    std::error_code ignored;
    if (!std::filesystem::exists(place.path, ignored)) continue;
    const auto entries = entries_in(place.path);
    if (!entries) {
      tell(context, fmt::format("left out: {}", entries.error().text));
      continue;
    }
    auto names = fresh_names(*entries, servers, home);
    if (names.empty()) continue;
    found.push_back(
        told_apart({.host = place.host, .file = place.path, .names = std::move(names)}, declared));
  }
  return found;
}

bool has_host_files(const std::string& home) {
  return std::ranges::any_of(host_places(home, home), [](const HostPlace& place) {
    std::error_code ignored;
    return std::filesystem::exists(place.path, ignored);
  });
}

std::vector<std::string> declared_servers_of(const Context& context) {
  return names_of(own_servers(context));
}

}  // namespace cellblock::cli
