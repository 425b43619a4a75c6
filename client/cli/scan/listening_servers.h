#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "client/cli/scan/scan_finding.h"

namespace cellblock::cli {

/// A TCP socket of this machine that others can connect to.
struct Listener {
  std::uint16_t port = 0;
  unsigned uid = 0;         ///< who opened it
  bool is_ipv6 = false;     ///< reached over ::1, else over 127.0.0.1
  bool is_loopback = true;  ///< else other machines may reach it too
  bool operator==(const Listener&) const = default;
};

/// In the text of /proc/net/tcp, or tcp6: those on loopback and on all addresses. Pure.
std::vector<Listener> listeners_in(const std::string& proc_net_tcp, bool is_ipv6);

/// Each port once.
std::vector<Listener> listeners_here();

/// Whether an answer to the request is one of an MCP server's. Pure.
bool is_mcp_answer(std::string_view http_answer);

/// The servers that answer `initialize` on /mcp: one request each, over loopback, for a second. At
/// most 128 are asked.
std::vector<ScanFinding> listening_servers(const std::vector<Listener>& listeners,
                                           std::string (*user_of)(unsigned uid));

}  // namespace cellblock::cli
