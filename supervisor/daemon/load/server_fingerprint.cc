#include "supervisor/daemon/load/server_fingerprint.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/sha.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <system_error>
#include <vector>

#include "policy/config/config_bytes.h"
#include "policy/config/path_rules.h"
#include "policy/reload/policy_members.h"
#include "supervisor/os/file_stamp.h"

namespace cellblock {
namespace {

namespace fs = std::filesystem;

// As many as a program may have (program_tree.h).
constexpr std::size_t most_entries = 200'000;

std::string stamp_text(const std::string& path, int flags) {
  const auto file = open_at(AT_FDCWD, path.c_str(), O_PATH | flags);
  const auto stamp = file ? stamp_of(*file) : std::unexpected(file.error());
  if (!stamp) return path + " -\n";
  return fmt::format("{} {} {} {} {}.{}\n", path, stamp->device, stamp->inode, stamp->size,
                     stamp->changed_seconds, stamp->changed_nanoseconds);
}

void add_command(std::string& text, const Server& server) {
  for (const std::string& word : server.command) {
    if (!word.starts_with('/')) continue;
    const auto path = host_path_of(word, server.binds, server.image);
    // Of a directory among the arguments the time tells what lies in it now: it is data.
    std::error_code error;
    if (path && !fs::is_directory(*path, error)) text += stamp_text(*path, 0);
  }
}

// In the order of their names: directories are not read in any order of their own.
void add_program(std::string& text, const std::string& path) {
  std::vector<std::string> entries{stamp_text(path, 0)};
  std::error_code error;
  const auto options = fs::directory_options::skip_permission_denied;
  for (auto entry = fs::recursive_directory_iterator(path, options, error);
       !error && entry != fs::recursive_directory_iterator() && entries.size() < most_entries;
       entry.increment(error)) {
    entries.push_back(stamp_text(entry->path().string(), O_NOFOLLOW));
  }
  std::ranges::sort(entries);
  for (const std::string& entry : entries) text += entry;
}

}  // namespace

std::array<std::uint8_t, 32> server_fingerprint(const Server& server, const CatalogueRules& rules,
                                                const std::set<std::string>& programs) {
  Server declared = server;
  declared.fingerprint = {};
  // Who may use what it offers, how often, and what becomes of it does not change what that is; nor
  // how long its cells live. Redaction is applied to what a session says, not to what is kept.
  const Server undeclared;
  for_each_policy_member_of_server(
      [&](const char*, auto member) { declared.*member = undeclared.*member; });
  declared.secret_marks = {};
  declared.found = {};
  declared.breakage = {};
  // Nor what the kernel said of the paths, and whom cells are there for it.
  declared.ownership = {};
  declared.owner_mounts = {};
  declared.run_as.reason.clear();
  declared.stop = {};
  declared.health = {};
  const std::vector<std::byte> bytes = encode(declared);
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (server.era == ServerEra::automatic) text += fmt::format("{}\n", rules.era_probe.count());
  if (!server.found.is_unanswered) add_command(text, server);
  if (!server.found.is_unanswered && !server.image.empty()) add_program(text, server.image);
  for (const Bind& bind : server.binds) {
    if (!server.found.is_unanswered && programs.contains(bind.source))
      add_program(text, bind.source);
  }
  std::array<std::uint8_t, SHA256_DIGEST_LENGTH> digest{};
  ::SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return digest;
}

}  // namespace cellblock
