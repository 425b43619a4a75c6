#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>

#include "policy/cell_facts.h"
#include "policy/config.h"
#include "supervisor/daemon/http_sockets.h"
#include "supervisor/daemon/listener.h"
#include "supervisor/daemon/peer.h"
#include "supervisor/daemon/read_watch.h"
#include "supervisor/kernel/wire.h"

namespace cellblock::daemon {

/// The supervisor's side of cellblock-http: keeps it running, brings it the hosts of the Unix
/// socket, and opens sessions for it: as a configured token's user, or as a host that is connected,
/// and as nobody else. No byte of HTTP is read here. One thread.
class HttpHost {
 public:
  struct Around {
    std::function<Result<void>(const wire::SupervisorRequest&, std::span<const int>)> ask_launcher;
    /// A new connection on behalf of that user; the end for cellblock-http.
    std::function<Result<Fd>(const Peer&)> open_session;
    /// Closes it where that may take its time (burial.h).
    std::function<void(Fd)> bury;
  };

  /// `config` outlives it and has [listen.http].
  HttpHost(boost::asio::io_context& loop, const Config& config, HttpSockets sockets, Around around);
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
  /// Nobody new; cellblock-http ends when it has answered.
  void finish();
  /// There is room for burials again.
  void go_on();
  void hold();

 private:
  struct Guest {
    Fd socket;  ///< kept until the helper is done with it, so that its close is not the last one
    Peer peer;
  };

  void on_connection(Fd socket);
  Result<void> bring(std::uint32_t number, const Guest& guest) const;
  void read_one();
  void obey(const wire::HttpRequest& request);
  void open_for(const wire::HttpRequest& request, const Peer& peer);
  void let_go(std::uint32_t number);
  void refuse(std::uint32_t request) const;
  void break_off(const char* why);
  void start_again_later();

  boost::asio::io_context& loop_;
  const Config& config_;
  Around around_;
  HttpSockets sockets_;
  std::unique_ptr<Listener> listener_;
  std::unique_ptr<ReadWatch> channel_;
  std::map<std::uint32_t, Guest> guests_;  ///< at most HttpListen::max_connections
  std::uint32_t last_guest_ = 0;
  bool running_ = false;
  bool finished_ = false;
  std::chrono::milliseconds delay_;
  std::chrono::steady_clock::time_point started_at_;
  boost::asio::steady_timer timer_;
};

/// Tells different groups of one uid apart; the same for the same.
std::uint64_t rights_of(const Peer& peer);

}  // namespace cellblock::daemon
