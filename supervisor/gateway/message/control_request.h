#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/approvals/approvals.h"
#include "policy/base/result.h"
#include "policy/config/config.h"
#include "policy/failures/failure.h"
#include "supervisor/ipc/wire.h"

/// cellblock's own requests (docs/protocol.md), parsed. Their parameters are small and rare, so
/// they go through a JSON tree.
namespace cellblock::gateway {

/// When an attached server's cell starts.
enum class StartWhen : std::uint8_t {
  now,        ///< before the first message; the host's session ends with it
  on_demand,  ///< when a message needs it, and again after its end
};

enum class ControlMethod : std::uint8_t {
  attach,
  status,
  logs,
  stop,
  restart,
  pins,
  pin_accept,
  pin_forget,
  approvals,
  approve,
  approve_next,
  home
};

enum class StdioOffer : std::uint8_t { none, offered };
enum class JournalOffer : std::uint8_t { none, offered };
enum class WorkspaceOffer : std::uint8_t { none, offered };
enum class LogKind : std::uint8_t { errors, denied };

/// As many lines as are kept of each server.
inline constexpr std::uint32_t max_log_lines = 200;

/// A label chosen by the host: recorded, never used for a permission.
struct Label {
  std::string name;   ///< [a-z0-9_.-]{1,32}
  std::string value;  ///< at most 128 bytes, printable
  bool operator==(const Label&) const = default;
};
inline constexpr std::size_t max_labels = 8;
inline constexpr std::size_t max_label_name = 32;
inline constexpr std::size_t max_label_value = 128;

/// Bound of the state that a session resumes with, in bytes of JSON.
inline constexpr std::size_t max_resume = 512U << 10;

enum class Definitions : std::uint8_t { digests, texts };

/// What a request about pins names.
struct PinRequest {
  std::string name;    ///< empty: all
  std::string kind;    ///< "tool", "prompt", "template"; empty: whatever has the name
  std::string digest;  ///< of the one that is meant, 64 hexadecimal digits; empty: any
  Definitions definitions = Definitions::digests;  ///< pins
};

/// What is said about a call that waits.
struct ApprovalWord {
  std::uint64_t number = 0;  ///< which call; 0 in approvals: all
  Approvals::Word word = Approvals::Word::deny;
  std::string digest = {};  ///< of the call that was shown, 64 hexadecimal digits; empty: any
};

/// A yes beforehand.
struct ApprovalBeforehand {
  std::string name;  ///< of a tool
  std::chrono::seconds time{};
};

struct ControlRequest {
  ControlMethod method{};
  std::string server;                   ///< empty in status, and in attach: all servers as one
  std::string role;                     ///< attach; empty: none
  StartWhen start = StartWhen::now;     ///< attach
  std::optional<ToolListing> tools;     ///< attach; nullopt: as the configuration says
  std::vector<Label> labels;            ///< attach
  StdioOffer stdio = StdioOffer::none;  ///< attach
  JournalOffer journal = JournalOffer::none;        ///< attach
  std::string resume;                               ///< attach; raw JSON, empty: a new session
  WorkspaceOffer workspace = WorkspaceOffer::none;  ///< attach
  wire::CellProgram program = wire::CellProgram::server;  ///< attach
  LogKind log = LogKind::errors;                          ///< logs
  std::uint32_t lines = 0;                                ///< logs
  std::optional<std::uint64_t> after;                     ///< logs, errors: behind that line
  PinRequest pin;                                         ///< pins, pin_accept, pin_forget
  ApprovalWord approval;                                  ///< approvals, approve
  ApprovalBeforehand beforehand;                          ///< approve_next
  wire::HomeAction home = wire::HomeAction::look;         ///< home
};

/// `params` is a validated JSON object, or empty. Unknown members are refused: a misspelt member
/// would otherwise be ignored in silence.
std::expected<ControlRequest, Failure> parse_control(std::string_view method,
                                                     std::string_view params);

}  // namespace cellblock::gateway
