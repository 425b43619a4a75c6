#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace cellblock::daemon {

struct ServiceFacts {
  std::size_t servers = 0;  ///< declared
  std::size_t users = 0;    ///< with a gateway
  std::uint32_t cells = 0;  ///< of servers, by the launcher's last answer
  std::size_t broken = 0;   ///< servers, roles and tokens that are left out
  bool switched_off = false;
  bool audit_runs = true;
  std::size_t stuck_closes = 0;  ///< children that block in closing a peer's descriptors
  std::uint32_t stuck_uid = 0;   ///< the owner of the last one
  std::string last_failure;      ///< of a process of cellblock's own; empty: none
};

/// The line that `systemctl status` shows: the counts, and what does not work.
std::string status_line(const ServiceFacts& facts);

}  // namespace cellblock::daemon
