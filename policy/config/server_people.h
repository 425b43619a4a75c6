#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "policy/config/config.h"
#include "policy/config/host_facts.h"

/// Whom the rules of a server give something. Pure.
namespace cellblock {

/// As the rules say it, each once: by number, by group, and through roles.
struct NamedPeople {
  std::vector<std::uint32_t> uids;
  std::vector<std::uint32_t> gids;
};
NamedPeople named_people(const Server& server, const std::vector<Role>& roles);

/// The account of a uid; nullopt: this host has none that was looked up.
std::optional<ClientId> account_of(std::uint32_t uid, const HostFacts& facts);

/// Why no server acts with these ids, as a warning says it; nullopt: they are an ordinary user's.
std::optional<std::string> problem_of_person(const ClientId& person, const Identity& identity);
/// Whether it is one of those that cells are given.
bool is_cell_id(const Identity& identity, std::uint32_t id);

inline constexpr std::uint32_t first_person = 1000;  ///< below are the system's own accounts
inline constexpr std::uint32_t nobody = 65'534;

struct Person {
  std::uint32_t uid = 0;
  /// The primary group, or without an account the group of the uid's number where nobody has that;
  /// none: not known.
  std::optional<std::uint32_t> gid;
};
/// One by one, members of groups included, sorted by uid. Members whom a directory service does not
/// list are not found.
std::vector<Person> people_of(const Server& server, const std::vector<Role>& roles,
                              const HostFacts& facts);

}  // namespace cellblock
