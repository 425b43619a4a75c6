#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "policy/config/config.h"
#include "supervisor/launcher/child/root_plan.h"

/// What a cell's Landlock domain handles and permits, as values. The second fence behind the mount
/// namespace, the network namespace and the filter: it permits only what these permit as well, so
/// it changes nothing while they hold. Pure; child_exec.h carries it out.
namespace cellblock::launcher::landlock {

// Landlock's rights as the kernel numbers them (include/uapi/linux/landlock.h), with the ABI that
// brought each. Own constants, since the headers of the oldest system that this is built on know
// ABI 2 only. ABI 7 and 8 brought flags that are not used here, ABI 11 nothing that a cell lacks.

// --- files: a file can be given the first group only, a directory all
inline constexpr std::uint64_t execute = 1ULL << 0;
inline constexpr std::uint64_t write_file = 1ULL << 1;
inline constexpr std::uint64_t read_file = 1ULL << 2;
inline constexpr std::uint64_t truncate = 1ULL << 14;      ///< ABI 3
inline constexpr std::uint64_t ioctl_device = 1ULL << 15;  ///< ABI 5
inline constexpr std::uint64_t resolve_unix = 1ULL << 16;  ///< ABI 9: connect to a path's socket
inline constexpr std::uint64_t of_files =
    execute | write_file | read_file | truncate | ioctl_device | resolve_unix;

inline constexpr std::uint64_t read_directory = 1ULL << 3;
inline constexpr std::uint64_t remove_directory = 1ULL << 4;
inline constexpr std::uint64_t remove_file = 1ULL << 5;
inline constexpr std::uint64_t make_character_device = 1ULL << 6;
inline constexpr std::uint64_t make_directory = 1ULL << 7;
inline constexpr std::uint64_t make_file = 1ULL << 8;
inline constexpr std::uint64_t make_socket = 1ULL << 9;
inline constexpr std::uint64_t make_fifo = 1ULL << 10;
inline constexpr std::uint64_t make_block_device = 1ULL << 11;
inline constexpr std::uint64_t make_link = 1ULL << 12;  ///< symbolic
inline constexpr std::uint64_t refer = 1ULL << 13;  ///< ABI 2: rename and link across directories

// --- network
inline constexpr std::uint64_t bind_tcp = 1ULL << 0;          ///< ABI 4
inline constexpr std::uint64_t connect_tcp = 1ULL << 1;       ///< ABI 4
inline constexpr std::uint64_t bind_udp = 1ULL << 2;          ///< ABI 10; port 0: any free one
inline constexpr std::uint64_t connect_send_udp = 1ULL << 3;  ///< ABI 10

// --- scopes: what is outside the domain is out of reach
inline constexpr std::uint64_t abstract_sockets = 1ULL << 0;  ///< ABI 6
inline constexpr std::uint64_t signals = 1ULL << 1;           ///< ABI 6

// --- rule types of landlock_add_rule(2)
inline constexpr int rule_path_beneath = 1;
inline constexpr int rule_net_port = 2;  ///< ABI 4

}  // namespace cellblock::launcher::landlock

namespace cellblock::launcher {

struct LandlockPathRule {
  std::string path;          ///< absolute, inside the cell
  std::uint64_t access = 0;  ///< of the file rights above
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

/// The ruleset of a server whose root is made of `entries`, on a kernel with this ABI. It handles
/// every right of the ABI. Only TCP and UDP are not handled where the declaration opens the cell's
/// network.
LandlockRuleset landlock_ruleset(std::uint32_t abi, const Server& server,
                                 const std::vector<RootEntry>& entries);

/// The ruleset of cellblock's own programs: they may read and run what they are linked with, and
/// nothing else.
LandlockRuleset own_landlock_ruleset(std::uint32_t abi, const std::vector<RootEntry>& entries);

/// For a program of cellblock's that answers datagrams on inherited sockets: no rule can name the
/// ports that they came from.
void permit_answers(LandlockRuleset& ruleset);

/// For a program of cellblock's whose home (root_plan.h) is a cache: files can be made there, read,
/// renamed and removed; no directory, no link, nothing to execute.
void permit_cache(LandlockRuleset& ruleset);

}  // namespace cellblock::launcher
