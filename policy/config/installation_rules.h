#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What the configuration says of the installation and of no server: the audit log, where hosts and
/// metrics are listened for, and the lists of all servers as one. Values only.
namespace cellblock {

/// When the audit log cannot be written.
enum class AuditFailure : std::uint8_t {
  refuse,  ///< nothing new is called
  alarm,   ///< it is logged, and calls go on unrecorded
};

/// What of a call's arguments is recorded.
enum class AuditArguments : std::uint8_t {
  digest,
  none,
  redacted,  ///< beside the digest a text, of which what may not be there is taken out
};

/// When a record counts as written.
enum class AuditDurability : std::uint8_t {
  written,  ///< the kernel has it: no process's end loses it
  synced,   ///< the disk has it: no loss of power does
};

/// What of the log the system's journal is told as well.
enum class AuditJournal : std::uint8_t { off, all };

struct AuditRules {
  std::uint64_t max_bytes = 64ULL << 20;  ///< from which on the log goes on in its next file
  std::uint32_t keep = 15;                ///< full files beside that; 0: one that only grows
  AuditFailure on_failure = AuditFailure::refuse;
  AuditArguments arguments = AuditArguments::digest;
  AuditDurability durability = AuditDurability::written;
  AuditJournal journal = AuditJournal::off;
  bool operator==(const AuditRules&) const = default;
};

/// The user of a bearer token. The configuration holds the token's digest, not the token.
struct HttpToken {
  std::array<std::uint8_t, 32> sha256{};
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::vector<std::uint32_t> groups;  ///< supplementary
  std::string name;                   ///< as declared, for logs: no secret
  /// A reload removed it: its index stays reserved, so that no other token is taken for it.
  bool revoked = false;
  bool operator==(const HttpToken&) const = default;
};

/// Revoked ones included. Processes name a token by its index.
inline constexpr std::size_t max_token_places = 512;

/// MCP's Streamable HTTP, for hosts that cannot start a process. Off unless declared.
struct HttpListen {
  std::string address;  ///< a loopback address, or empty
  std::uint16_t port = 0;
  std::string socket;         ///< absolute path of a Unix socket, or empty
  std::uint32_t mode = 0660;  ///< of that socket
  std::optional<std::uint32_t> group;
  std::vector<HttpToken> tokens;
  std::vector<std::string> origins;  ///< allowed besides those of the loopback host itself
  std::vector<std::string> hosts;    ///< allowed in `Host` besides the loopback names
  std::uint32_t max_connections = 256;
  std::uint32_t max_sessions = 64;  ///< legacy sessions at one time, of one identity
  std::chrono::milliseconds session_idle{30 * 60'000};  ///< without a request, then it is ended
  bool operator==(const HttpListen&) const = default;
};

/// The endpoint of the metrics: one of the two.
struct MetricsListen {
  std::string socket;  ///< absolute path of a Unix socket; empty: none
  std::uint32_t mode = 0660;
  std::uint16_t port = 0;  ///< on 127.0.0.1; 0: none
  bool operator==(const MetricsListen&) const = default;
};

/// What a host's tools/list has.
enum class ToolListing : std::uint8_t {
  all,     ///< every tool that it may use
  search,  ///< two tools of cellblock's that find the others and call them, and `always_listed`
};

/// All servers as one, for hosts that attach to none.
struct AggregateRules {
  ToolListing tools = ToolListing::all;  ///< where the host does not choose
  bool operator==(const AggregateRules&) const = default;
};

}  // namespace cellblock
