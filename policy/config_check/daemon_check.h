#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "policy/config/cell_rules.h"
#include "policy/config/config.h"
#include "policy/config/host_facts.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/config_text.h"

/// [daemon] and [socket] -> the part of Config that is no server's.
namespace cellblock {

/// `scope`: of the daemon, whose keys have been read into `bounds`. Where only the sum is written,
/// each user has a quarter of it, rounded up; rootless, where there is one user, all of it.
void check_cell_bounds(const Scope& scope, const Written& daemon, RunMode mode, CellBounds& bounds);

/// The keys of [daemon] that mean what they say on any host.
void read_daemon(Complaints& complaints, const ConfigText& text, Config& config);

/// `identity`: with the range of ids that was read. Rootless there is only the user's own id here;
/// the daemon widens the range where /etc/subuid and /etc/subgid give it one.
Identity check_identity(Complaints& complaints, const ConfigText& text, RunMode mode,
                        const HostFacts& facts, Identity identity);

Listen check_listen(Complaints& complaints, const ConfigText& text, RunMode mode,
                    const std::optional<std::string>& socket_override, const HostFacts& facts);

/// Fills state_directory and audit_log, and checks the bounds of cells.
void check_storage(Complaints& complaints, const ConfigText& text, const HostFacts& facts,
                   Config& config);

/// `daemon.admins`: uids, sorted, those of the members of its groups among them. Rootless the one
/// user decides for himself.
std::vector<std::uint32_t> check_admins(Complaints& complaints, const ConfigText& text,
                                        RunMode mode, const HostFacts& facts);

/// `daemon.cgroup`, as the host has it.
Cgroup check_cgroup(Complaints& complaints, const ConfigText& text, const HostFacts& facts);

}  // namespace cellblock
