#include "client/connection/listener_trust.h"

#include <fmt/format.h>

namespace cellblock::client {
namespace {

constexpr std::uint32_t writable_by_others = 0022;
constexpr std::uint32_t sticky = 01000;

bool root_or_self(std::uint32_t uid, const ListenerFacts& facts) {
  return uid == 0 || uid == facts.self;
}

std::string not_ours(const DirectoryFacts& directory) {
  return fmt::format("directory {} belongs to uid {}", directory.path, directory.owner);
}

std::string writable(const DirectoryFacts& directory) {
  return fmt::format("directory {} can be written by others", directory.path);
}

// Nobody but root or us can have put there what `next` names.
std::string distrust_above(const DirectoryFacts& directory, const DirectoryFacts& next,
                           const ListenerFacts& facts) {
  if (!root_or_self(directory.owner, facts)) return not_ours(directory);
  if ((directory.mode & writable_by_others) == 0) return {};
  const bool kept = (directory.mode & sticky) != 0 && root_or_self(next.owner, facts);
  return kept ? std::string() : writable(directory);
}

std::string distrust_last(const DirectoryFacts& directory, const ListenerFacts& facts) {
  const bool owned = root_or_self(directory.owner, facts) || directory.owner == facts.listener;
  if (!owned) return not_ours(directory);
  return (directory.mode & writable_by_others) == 0 ? std::string() : writable(directory);
}

std::string distrust_place(const ListenerFacts& facts) {
  const auto& directories = facts.directories;
  for (std::size_t i = 0; i + 1 < directories.size(); ++i) {
    auto reason = distrust_above(directories[i], directories[i + 1], facts);
    if (!reason.empty()) return reason;
  }
  return directories.empty() ? "its directory is not known"
                             : distrust_last(directories.back(), facts);
}

}  // namespace

std::string distrust(const ListenerFacts& facts) {
  if (root_or_self(facts.listener, facts)) return {};
  const auto reason = distrust_place(facts);
  if (reason.empty()) return {};
  return fmt::format("uid {} listens there, who is neither root nor you, and {}", facts.listener,
                     reason);
}

}  // namespace cellblock::client
