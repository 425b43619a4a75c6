#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// What `cellblock scan` finds: MCP servers that run, or would be started, outside cells. Pure.
namespace cellblock::cli {

struct ScanFinding {
  enum class Kind : std::uint8_t {
    configured,  ///< a host's file says how it is started
    running,     ///< a process
    listening,   ///< a port of this machine that answered `initialize`
  };

  Kind kind = Kind::configured;
  std::string user;
  std::string host;     ///< "Claude Code", or the program that started it; empty: not known
  std::string name;     ///< as the host or the server's package calls it
  std::string where;    ///< file and entry, process, or address
  std::string command;  ///< or address of a remote one; what looks like a secret is left out
  std::string remedy;   ///< the command that brings it in; empty: none is known

  bool operator==(const ScanFinding&) const = default;
};

std::string_view name_of(ScanFinding::Kind kind);

/// Scheme, host and port of an address, without a user and what comes behind.
std::string where_it_leads(std::string_view address);

/// Words for people, as a shell would take them; in the place of what looks like a secret stands
/// "[hidden]".
std::string shown_command(const std::vector<std::string>& command);

/// Two scans: what is in `now` alone, and what is in `before` alone. Processes and ports count as
/// the same where user, name and command are.
struct ScanDifference {
  std::vector<ScanFinding> fresh;
  std::vector<ScanFinding> gone;
};
ScanDifference difference_of(const std::vector<ScanFinding>& before,
                             const std::vector<ScanFinding>& now);

}  // namespace cellblock::cli
