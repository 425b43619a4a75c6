#pragma once

#include <sys/types.h>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cellblock/error.h"
#include "cellblock/types.h"
#include "client/connection/fd.h"
#include "client/connection/long_line.h"
#include "client/connection/reactor.h"
#include "policy/jsonrpc/line_splitter.h"

/// Lines over the daemon's socket: a bounded queue out, bounded lines in. Knows nothing of JSON.
/// Everything runs in the reactor's process(); nothing is called back from inside a call.
namespace cellblock::client {

inline constexpr std::size_t max_sent_descriptors = 4;

/// One sendmsg(2) that never blocks. SCM_RIGHTS is delivered with the first byte or not at all, so
/// `bytes` must begin with the first byte of the request. Returns as sendmsg(2): the bytes sent, or
/// -1 and errno.
ssize_t send_with_descriptors(int socket, std::string_view bytes, std::span<const int> descriptors);

/// With EPERM nothing was sent: the connection takes no descriptors yet, since it is not with the
/// user's gateway (docs/protocol.md). How long to wait before attempt `attempt` (from 1), or none
/// to give up: two minutes in all, since the gateway before it may have to end first. What comes in
/// meanwhile says that it will not be taken.
std::optional<std::chrono::milliseconds> descriptors_backoff(unsigned attempt);

/// Whether the errno says that the peer has closed. What was received before may still tell why.
bool is_gone(int error);

/// For any other errno; ETOOMANYREFS when more descriptors are in flight than the caller may have
/// open.
Error not_sent(int error);

class Channel : public SocketHandler, public std::enable_shared_from_this<Channel> {
 public:
  /// A line is valid during the call. The end is told once, unless close() came first.
  struct Handlers {
    std::function<void(std::string_view line)> line;
    /// A line over the bound, which has been skipped. False: the call it belongs to is not known,
    /// and the connection ends.
    std::function<bool(const LongLine& line)> long_line;
    std::function<void(Error why)> ended;
  };

  Channel(std::shared_ptr<Reactor> reactor, const Limits& limits);
  ~Channel() override;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  void connect(const std::string& path, Handlers handlers, Completion<void> done);

  /// `line` has its newline. Queued; too_many when the queue is full. A descriptor goes along with
  /// its first byte, and is closed when that was sent.
  Result<void> send(std::string line, OwnedFd attached = OwnedFd());

  void close();

  /// In a child of fork(), where everything else belongs to the parent: closes the descriptor, and
  /// leaves the rest as it is, for good. Nothing else may be done with it then.
  void abandon();

 private:
  struct Outgoing {
    std::string line;
    OwnedFd attached;
  };

  void ready() override;
  void attempt(unsigned number);
  void retry(unsigned number);
  void connected(OwnedFd socket);
  void finish_connect(Result<void> result);
  void read();
  bool read_some();
  void received(std::string_view bytes);
  void handle_lines(std::string_view behind);
  void skip_line(std::string_view beginning, bool is_whole);
  void skipped_line();
  Error too_long() const;
  void write();
  bool write_front();
  ssize_t send_front();
  void not_written(int error);
  void retry_attached();
  void end(Error why);

  std::shared_ptr<Reactor> reactor_;
  ReactorTimer timer_;
  OwnedFd socket_;
  Limits limits_;
  LineSplitter lines_;
  std::optional<LongLine> long_line_;  ///< what is being skipped
  Handlers handlers_;
  Completion<void> connecting_;
  std::string path_;
  std::deque<Outgoing> queue_;
  std::size_t queued_bytes_ = 0;
  std::size_t sent_ = 0;          ///< of the first one
  unsigned refusals_ = 0;         ///< of its descriptor, since the daemon takes none yet
  bool writing_stopped_ = false;  ///< the peer has closed, or `timer_` goes on
};

}  // namespace cellblock::client
