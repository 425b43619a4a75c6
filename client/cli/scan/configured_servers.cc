#include "client/cli/scan/configured_servers.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "client/cli/host_files/entry_match.h"
#include "client/cli/host_files/host_change.h"
#include "client/cli/host_files/host_entries.h"
#include "client/cli/host_files/host_file.h"
#include "client/cli/import/propose/proposed_command.h"
#include "client/cli/import/read/declared_server.h"
#include "client/cli/import/read/input_json.h"

namespace cellblock::cli {
namespace {

constexpr std::size_t most_projects = 256;
constexpr std::size_t most_users = 4096;

// Only where it leads: the rest of an address may hold a token.
std::string address_of(const nlohmann::ordered_json& value) {
  for (const char* name : {"url", "serverUrl", "httpUrl"}) {
    const auto url = text_member(value, name);
    if (!url || url->empty()) continue;
    return where_it_leads(*url);
  }
  return {};
}

std::string import_line(const std::string& path) {
  const std::string file = shell_word(path);
  return fmt::format("cellblock import {} --install && cellblock import {} --into-host", file,
                     file);
}

}  // namespace

std::vector<ScanFinding> configured_in(const std::string& text, const std::string& host,
                                       const std::string& path, const std::string& user) {
  std::vector<ScanFinding> findings;
  const auto entries = host_entries(text);
  if (!entries) return findings;
  for (const HostEntry& entry : *entries) {
    if (is_cellblock(entry.value)) continue;
    const auto command = command_of_entry(entry.value);
    std::string shown = command.empty() ? address_of(entry.value) : shown_command(command);
    if (shown.empty()) continue;
    findings.push_back({.kind = ScanFinding::Kind::configured,
                        .user = user,
                        .host = host,
                        .name = entry.name(),
                        .where = fmt::format("{} {}", path, path_text(entry.path)),
                        .command = std::move(shown),
                        .remedy = import_line(path)});
  }
  return findings;
}

std::vector<std::string> projects_in(const std::string& text) {
  std::vector<std::string> projects;
  const auto whole = looks_like_json(text) ? json_of_json(text)
                                           : Result<nlohmann::ordered_json>(fail("it is TOML"));
  if (!whole) return projects;
  for (const auto& [path, table] : object_member(*whole, "projects").items()) {
    if (path.starts_with('/') && projects.size() < most_projects) projects.push_back(path);
  }
  return projects;
}

std::vector<ScanFinding> configured_servers(const ScannedUser& user, const std::string& here) {
  std::vector<ScanFinding> findings;
  std::set<std::string> seen;
  std::set<std::string> directories{here};
  const auto look_at = [&](const HostPlace& place) {
    if (!seen.insert(place.path).second) return;
    const auto text = file_of(place.path, user.uid);
    if (!text) return;
    for (auto& project : projects_in(*text)) directories.insert(std::move(project));
    std::ranges::move(configured_in(*text, place.host, place.path, user.name),
                      std::back_inserter(findings));
  };
  std::ranges::for_each(host_places(user.home, user.home), look_at);
  for (const std::string& directory : std::set(directories)) {
    std::ranges::for_each(host_places(user.home, directory), look_at);
  }
  return findings;
}

namespace {

// Not every list of accounts has all of them, and a container has perhaps none.
std::vector<ScannedUser> calling_user() {
  const uid_t own = ::geteuid();
  const passwd* entry = ::getpwuid(own);   // NOLINT(concurrency-mt-unsafe): one thread
  const char* home = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe): nobody changes it
  ScannedUser user{.name = std::to_string(own), .uid = own, .gid = ::getegid(), .home = ""};
  if (home != nullptr) user.home = home;
  if (entry != nullptr) {
    user.name = entry->pw_name;
    user.home = entry->pw_dir;
  }
  return user.home.size() > 1 ? std::vector{std::move(user)} : std::vector<ScannedUser>();
}

}  // namespace

std::vector<ScannedUser> scanned_users() {
  if (::geteuid() != 0) return calling_user();
  std::vector<ScannedUser> users;
  ::setpwent();                                 // NOLINT(concurrency-mt-unsafe): one thread
  while (const passwd* entry = ::getpwent()) {  // NOLINT(concurrency-mt-unsafe): one thread
    const std::string home = entry->pw_dir == nullptr ? "" : entry->pw_dir;
    if (home.size() > 1 && users.size() < most_users) {
      users.push_back(
          {.name = entry->pw_name, .uid = entry->pw_uid, .gid = entry->pw_gid, .home = home});
    }
  }
  ::endpwent();  // NOLINT(concurrency-mt-unsafe): one thread
  return users;
}

}  // namespace cellblock::cli
