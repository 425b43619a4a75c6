#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "cellblock/error.h"
#include "client/cli/terminal/stdio.h"

/// Copies both ways between the host's descriptors and the daemon's socket, where they cannot be
/// handed over. Bounded: each direction holds one buffer and reads no more until it is written.
namespace cellblock::cli {

enum class PumpEnd : std::uint8_t {
  host_closed,    ///< the reader of our output has closed, or answers did not come in time
  answered,       ///< end of input, and then the session ended
  daemon_closed,  ///< the session ended while the host was still there
};

class Pump {
 public:
  /// `received` has arrived already and goes to the host first; at most one buffer of it.
  Pump(int in, int out, int socket, std::string_view received);

  /// Until either side is gone; `answers_time` after end of input at the latest.
  PumpEnd run();

 private:
  struct Flow {
    std::string bytes;  ///< not written yet
    bool source_ended = false;
    bool wants_bytes() const { return bytes.empty() && !source_ended; }
    bool finished() const { return bytes.empty() && source_ended; }
  };

  void fill(Flow& flow, int from);
  bool drain(Flow& flow, int to);
  void end_input();

  int in_;
  int out_;
  int socket_;
  Flow to_daemon_;
  Flow to_host_;
  bool input_ended_ = false;
  Deadline deadline_ = never;
};

/// A host that only reads its server's stdout learns why there is none: its first requests are
/// answered with this error, up to `initialize`. Returns when that is done, at end of input, or at
/// the deadline.
void answer_first_request(int in, int out, const client::Error& error, Deadline deadline);

}  // namespace cellblock::cli
