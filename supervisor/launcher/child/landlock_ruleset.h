#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "policy/config/config.h"
#include "supervisor/launcher/child/root_plan.h"

/// What a cell's Landlock domain handles and permits, as values. The second fence behind the mount
/// namespace, the network namespace and the filter: it permits only what these permit as well, so
/// it changes nothing while they hold. Pure; child_landlock.h carries it out.
namespace cellblock::launcher {

struct LandlockPathRule {
  std::string path;          ///< absolute, inside the cell
  std::uint64_t access = 0;  ///< landlock_rights.h
  bool operator==(const LandlockPathRule&) const = default;
};

struct LandlockPortRule {
  std::uint16_t port = 0;
  std::uint64_t access = 0;
  bool operator==(const LandlockPortRule&) const = default;
};

/// All masks zero: this kernel has no Landlock, and nothing is to be done.
struct LandlockRuleset {
  std::uint64_t files = 0;  ///< handled: refused unless a rule permits it
  std::uint64_t network = 0;
  std::uint64_t scopes = 0;
  std::vector<LandlockPathRule> paths;
  std::vector<LandlockPortRule> ports;
  bool operator==(const LandlockRuleset&) const = default;
};

/// Of a server whose root is made of `entries`, on a kernel with this ABI. Everything the ABI
/// knows is handled; only TCP and UDP are not where the cell's network is open by declaration.
LandlockRuleset landlock_ruleset(std::uint32_t abi, const Server& server,
                                 const std::vector<RootEntry>& entries);

/// Of cellblock's own programs: they read and run what they are linked with, and nothing else.
LandlockRuleset own_landlock_ruleset(std::uint32_t abi, const std::vector<RootEntry>& entries);

/// For a program of cellblock's that answers datagrams on sockets that it was handed: to whatever
/// port they came from, which no rule can say.
void permit_answers(LandlockRuleset& ruleset);

/// For a program of cellblock's whose home (root_plan.h) is a cache: files can be made there, read,
/// renamed and removed; no directory, no link, nothing to execute.
void permit_cache(LandlockRuleset& ruleset);

}  // namespace cellblock::launcher
