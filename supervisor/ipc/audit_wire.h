#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "policy/mcp/trace_context.h"

/// wire.h for the audit writer: what it is told and what it tells.
namespace cellblock::wire {

inline constexpr std::uint32_t max_tool_name = 128;

/// Bound of the text behind a record in its packet (audit_packet.h): the arguments of a call, the
/// reason of a switch. Other records have no text.
inline constexpr std::uint32_t max_audit_text = 4'608;

/// Bytes; records with their texts.
inline constexpr std::uint32_t max_audit_packet = 32'768;

// ---------------------------------------------------------------------------------------------
// supervisor -> audit writer

enum class AuditOrders : std::uint8_t {
  begin = 1,       ///< first, once: max_bytes, durability; fds: none, or the journal's socket
  source = 2,      ///< uid, gateway; fds: the reading end of that gateway's audit socket
  next_file = 3,   ///< answer to AuditTells::file_full; fds: an empty file, O_APPEND
  own_source = 4,  ///< as `source`: a record that only the supervisor can send
  rules = 5,       ///< max_bytes and durability, from now on
};

/// What the writer waits for before it says that a record is written.
enum class Durability : std::uint8_t {
  written = 0,  ///< the kernel has it: the end of any process loses nothing
  synced = 1,   ///< the disk has it: nor does a loss of power
};

struct AuditOrder {
  AuditOrders kind{};
  Durability durability{};
  std::array<std::uint8_t, 2> reserved{};
  std::uint32_t uid = 0;        ///< whose gateway writes there: stamped on each of its records
  std::uint64_t gateway = 0;    ///< likewise: which of his gateways, never the same number twice
  std::uint64_t max_bytes = 0;  ///< from which on a file is full; 0: never
};

// audit writer -> supervisor

enum class AuditTells : std::uint8_t { file_full = 1 };

struct AuditTell {
  AuditTells kind{};
};

// audit writer -> gateway: it and all before it are in the log

struct AuditWritten {
  std::uint64_t number = 0;
  std::uint64_t sequence = 0;           ///< of the log's last line then
  std::array<std::uint8_t, 32> hash{};  ///< of that line
};

// gateway -> audit writer

enum class AuditKind : std::uint8_t {
  session_opened = 1,
  session_closed = 2,
  attach = 3,
  call = 4,  ///< tools/call, when it is decided
  call_ended = 5,
  cell_started = 6,
  cell_ended = 7,
  refused = 8,    ///< a server-to-client request, a method, a line
  egress = 9,     ///< tool: "host:port"; reason: EgressReason's name; bytes: both ways together
  denied = 10,    ///< tool: the system call
  label = 11,     ///< of a session, as its host says: tool: the value; reason: the name
  pin = 12,       ///< tool: a definition's name; reason: what became of it: "withheld: changed"
  approval = 13,  ///< of a call that waits for a person's word: asked, allowed, denied, expired
  switched = 14,  ///< everything, by an administrator; tool: "disable" or "enable"; reason: by whom
  finding = 15,   ///< of a scanner in what a call brings; reason: which detector; count
  flow = 16,      ///< of what an agent has read: reason: the label that a call brought, or the rule
};

/// What a call calls.
enum class AuditMethod : std::uint8_t { tools_call = 0, resources_read = 1, prompts_get = 2 };

enum class AuditOutcome : std::uint8_t { none = 0, ok = 1, error = 2, denied = 3, cancelled = 4 };

struct AuditRecord {
  AuditKind kind{};
  AuditOutcome outcome = AuditOutcome::none;
  std::uint8_t server_length = 0;
  std::uint8_t tool_length = 0;
  std::int32_t pid = 0;      ///< of the host, as the kernel said at connect
  std::uint64_t number = 0;  ///< of this gateway's records, from 1: a gap is a lost record
  std::uint64_t session = 0;
  std::uint64_t cell = 0;
  std::uint64_t call = 0;
  std::uint64_t bytes = 0;
  std::uint64_t microseconds = 0;
  std::uint64_t count = 1;  ///< alike events that this record stands for
  std::array<char, 64> server{};
  std::array<char, max_tool_name> tool{};    ///< or method
  std::array<char, 64> reason{};             ///< a stable code, NUL-terminated
  std::array<std::uint8_t, 32> arguments{};  ///< SHA-256 of a call's; zeros: none are told
  AuditMethod method = AuditMethod::tools_call;
  std::array<char, traceparent_size> traceparent{};  ///< of the caller's span; zeros: it named none
  std::uint16_t text_length = 0;                     ///< of what follows, as audit_packet.h sets it
};

static_assert(std::is_trivially_copyable_v<AuditRecord>);
static_assert(std::is_trivially_copyable_v<AuditOrder>);

namespace audit_fd {
inline constexpr int control = 3;  ///< SOCK_SEQPACKET: AuditOrder in, AuditTell out
inline constexpr int log = 4;      ///< the file that is written, O_APPEND
inline constexpr int written = 5;  ///< the same, to read where it ends
inline constexpr int former = 6;   ///< the file before it, to read likewise if this one is empty
}  // namespace audit_fd

}  // namespace cellblock::wire
