#pragma once

#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "supervisor/gateway/message/control_request.h"
#include "supervisor/gateway/message/traffic.h"
#include "supervisor/ipc/wire.h"

/// The life of one cell as its session sees it: a table of states and events. No time, no
/// descriptors: it says what to do, server_cell.h does it.
namespace cellblock::gateway {

enum class CellState : std::uint8_t {
  stopped,      ///< nothing has been asked for
  asked,        ///< the launcher has the request
  abandoned,    ///< no longer wanted before the launcher answered
  building,     ///< its set-up runs
  handshaking,  ///< its program runs and has not answered anything
  ready,
  draining,     ///< its input is closed
  terminating,  ///< SIGTERM was sent
  killing,      ///< the whole cell is being killed
  ended,
};
inline constexpr std::size_t cell_state_count = 10;

enum class CellInput : std::uint8_t {
  start,
  started,   ///< the launcher handed its pipes over
  refused,   ///< the launcher did not start it
  running,   ///< exec succeeded
  answered,  ///< a valid answer came
  stop,      ///< it is no longer needed
  fault,     ///< it broke the rules: end it now
  deadline,  ///< the time given to the last action has passed
  ended,     ///< the launcher has buried it
};
inline constexpr std::size_t cell_input_count = 9;

enum class CellAction : std::uint8_t {
  none,
  ask_start,
  withdraw_start,  ///< in case the launcher does not have it yet
  close_input,     ///< then wait for timeouts.end_of_input
  terminate,       ///< then wait for timeouts.terminate
  kill,
  report_impossible,  ///< the launcher and we disagree: end this gateway
};

class CellLifetime {
 public:
  CellState state() const { return state_; }
  [[nodiscard]] CellAction on(CellInput input);

  bool is_over() const { return state_ == CellState::stopped || state_ == CellState::ended; }

 private:
  CellState state_ = CellState::stopped;
};

/// The word in `cellblock status`: several states are one to the reader.
std::string_view public_name_of(CellState state);

/// One cell's row in the status report.
struct CellRow {
  std::uint64_t cell = 0;
  std::uint64_t session = 0;
  std::set<std::uint64_t> sessions;  ///< that use it, where it is shared
  CellState state = CellState::stopped;
  std::int64_t uptime_ms = 0;
  wire::CellProgram program = wire::CellProgram::server;
  bool spare = false;
  bool workspace = false;
  bool revival = false;  ///< it took a session on
  Traffic traffic;
  std::uint64_t noise_lines = 0;      ///< of the server: no JSON-RPC
  std::uint64_t malformed_lines = 0;  ///< of the host
  std::vector<Label> labels;          ///< of its session, as the host says
  wire::CellUsage usage = {};         ///< 0: not known
};

}  // namespace cellblock::gateway
