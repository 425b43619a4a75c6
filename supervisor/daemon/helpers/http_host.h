#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "policy/config/config.h"
#include "policy/failures/cell_facts.h"
#include "supervisor/activation/bound_sockets.h"
#include "supervisor/daemon/helpers/restart_delay.h"
#include "supervisor/daemon/sockets/listener.h"
#include "supervisor/daemon/sockets/peer_credentials.h"
#include "supervisor/ipc/wire.h"
#include "supervisor/process/readable_fd.h"

namespace cellblock::daemon {

/// The supervisor's side of cellblock-http: keeps it running, passes it the hosts of the Unix
/// socket, and opens sessions for it: as a configured token's user, or as a connected host, and as
/// no other user. No byte of HTTP is read here. One thread.
class HttpHost {
 public:
  struct Around {
    std::function<Result<void>(const wire::SupervisorRequest&, std::span<const int>)> ask_launcher;
    /// Opens a connection for that user; returns the end for cellblock-http.
    std::function<Result<Fd>(const Peer&)> open_session;
    /// Whether connections of that user cannot be closed: the user gets no other.
    std::function<bool(std::uint32_t uid)> is_stuck;
    /// Closes a socket in a process that may block (connection_closer.h).
    std::function<void(Fd)> close_later;
    /// `count` requests had a bearer token that is not configured. `from`: an address, or several.
    std::function<void(const std::string& from, std::uint32_t count)> wrong_token;
  };

  struct Patience {
    std::chrono::milliseconds to_read{10'000};  ///< for cellblock-http to read its channel
    std::chrono::milliseconds to_end{3'000};    ///< after its channel has ended; then it is killed
  };

  /// `config` outlives it and has [listen.http].
  HttpHost(boost::asio::io_context& loop, const Config& config, HttpSockets sockets, Around around,
           Patience patience);
  HttpHost(boost::asio::io_context& loop, const Config& config, HttpSockets sockets, Around around)
      : HttpHost(loop, config, std::move(sockets), std::move(around), Patience{}) {}
  ~HttpHost();
  HttpHost(HttpHost&&) = delete;
  HttpHost& operator=(HttpHost&&) = delete;

  /// Asks the launcher for cellblock-http.
  Result<void> start();
  // The launcher's reports.
  void started();
  void ended(const CellFacts& facts);

  /// From here hosts can come to the Unix socket.
  Result<void> listen();
  /// Accepts no new host; cellblock-http ends when it has answered.
  void finish();
  /// Sends cellblock-http the changed configuration.
  void reconfigure(const Fd& sealed);
  /// There is room for deferred closes again.
  void go_on();
  void hold();

 private:
  struct Guest {
    Fd socket;  ///< kept until the helper has closed its copy, so that this close is the last
    Peer peer;
  };

  /// A record that found no room in the channel. Until it is sent, no host is accepted and no
  /// request is read: the requests already begun bound the number of waiting records.
  struct Untold {
    wire::HttpAnswer answer;
    Fd attached;  ///< of `opened` and `config`
  };

  void on_connection(Fd socket);
  std::string refusal_for(const Result<Peer>& peer) const;
  void bring(Fd socket, Peer peer);
  void tell(const wire::HttpAnswer& answer, Fd attached = {});
  void tell_what_waits();
  SysResult<void> send(const Untold& untold) const;
  void wait_for_room(int why);
  void update_intake();
  void read_one();
  void obey(const wire::HttpRequest& request);
  void open_for(const wire::HttpRequest& request, const Peer& peer);
  void open_for_token(const wire::HttpRequest& request);
  void let_go(std::uint32_t number);
  void refuse(std::uint32_t request);
  void break_off(const char* why);
  void kill_if_it_stays();
  void start_again_later();

  boost::asio::io_context& loop_;
  const Config& config_;
  Around around_;
  HttpSockets sockets_;
  std::unique_ptr<Listener> listener_;
  std::unique_ptr<ReadableFd> channel_;
  std::map<std::uint32_t, Guest> guests_;  ///< at most HttpListen::max_connections
  std::uint32_t last_guest_ = 0;
  std::deque<Untold> untold_;
  Patience patience_;
  bool held_ = false;    ///< no room for deferred closes
  bool broken_ = false;  ///< its channel is closed, and the helper has not ended yet
  bool running_ = false;
  bool finished_ = false;
  RestartDelay delay_;
  boost::asio::steady_timer timer_;
  boost::asio::steady_timer retry_;
  boost::asio::steady_timer deadline_;  ///< of the helper: to read, or to end
};

/// A hash of the peer's groups, in any order: tells apart peers of one uid with different groups.
std::uint64_t rights_of(const Peer& peer);

}  // namespace cellblock::daemon
