#pragma once

#include <poll.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "cellblock/error.h"
#include "cellblock/types.h"
#include "client/cli/terminal/stdio.h"
#include "client/connection/fd.h"

/// The bridge's side of docs/protocol.md: attach with the host's own descriptors, then wait.
namespace cellblock::cli {

enum class Handover : std::uint8_t { no, yes };

/// What goes along with the attach.
struct AttachWith {
  Handover handover = Handover::no;
  int journal = -1;                                ///< memory, with handover; -1: none
  int workspace = -1;                              ///< an open directory; -1: none
  std::map<std::string, std::string> labels = {};  ///< client::AttachOptions::labels
  std::string role = {};                           ///< empty: none
  client::ToolListing tools = client::ToolListing::standard;
  std::string resume = {};  ///< Ending::resume of the session that this one goes on; empty: none
};

/// What came of attaching.
struct AttachOutcome {
  Handover taken = Handover::no;  ///< the gateway reads and writes the host's descriptors now
  bool is_journalled = false;     ///< and says in the journal what is in flight
  std::string failure;            ///< the raw JSON of the error; empty: attached
};

/// How the session ended.
struct Ending {
  std::string reason;   ///< "host_closed" …; empty: the connection broke
  std::string failure;  ///< raw JSON, with server_failed
  std::string message;  ///< a sentence, likewise
  std::string resume;   ///< raw JSON: the next daemon can go on with it; empty: it cannot
};

class ControlChannel {
 public:
  explicit ControlChannel(client::OwnedFd socket) : socket_(std::move(socket)) {}

  /// Sends cellblock/attach, with descriptors 0 and 1 if they are to be handed over, and waits for
  /// the answer. Ends early when the host is gone.
  client::Result<AttachOutcome> attach(const std::string& server, const AttachWith& with);

  /// Waits for cellblock/ended or the end of the connection, until the deadline, or as long as a
  /// host is waited for: `answers_time` after its input ended, `end_grace` once it has gone.
  Ending wait_for_end(Deadline deadline);

  /// The host closed its end of descriptor 0, or reads descriptor 1 no more.
  bool host_gone() const { return input_ended_ || output_closed_; }
  int socket() const { return socket_.get(); }
  /// What arrived behind the last line.
  std::string take_rest() { return std::move(buffer_); }

 private:
  client::Result<void> send_attach(const std::string& line, const AttachWith& with);
  client::Result<std::size_t> send_with(std::string_view line, std::span<const int> descriptors);
  client::Result<std::string> next_line(Deadline deadline);
  bool wait_readable(Deadline deadline);
  void watch_host(const pollfd& input, const pollfd& output);

  client::OwnedFd socket_;
  std::string buffer_;
  bool input_ended_ = false;
  bool output_closed_ = false;
  Deadline host_deadline_ = never;
};

/// How long the rest may take once the host reads no more either.
inline constexpr std::chrono::milliseconds end_grace{1'800};
/// How long answers to what it asked may take, once it has closed its end. The gateway ends the
/// session after a minute; this is for one that hangs.
inline constexpr std::chrono::milliseconds answers_time{62'000};

}  // namespace cellblock::cli
