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

#include "policy/failures/cell_facts.h"
#include "policy/metrics/families.h"
#include "supervisor/daemon/activation/bound_sockets.h"
#include "supervisor/ipc/metrics_page.h"
#include "supervisor/ipc/wire.h"

namespace cellblock::daemon {

/// The supervisor's side of cellblock-metrics: keeps it running, makes the page that each gateway
/// counts in, and hands cellblock-metrics what it reads them by. No byte of a scrape is read here,
/// and none that cellblock-metrics says: it has nothing to say. One thread.
class MetricsHost {
 public:
  using AskLauncher =
      std::function<Result<void>(const wire::SupervisorRequest&, std::span<const int>)>;

  static Result<std::unique_ptr<MetricsHost>> make(boost::asio::io_context& loop,
                                                   MetricsSocket socket, AskLauncher ask_launcher);
  MetricsHost(MetricsHost&&) = delete;
  MetricsHost& operator=(MetricsHost&&) = delete;

  /// Asks the launcher for cellblock-metrics.
  Result<void> start();
  // The launcher's reports.
  void started();
  void ended(const CellFacts& facts);
  /// There may be other servers: the next cellblock-metrics learns their names.
  void config_changed();
  /// cellblock-metrics ends, and is not started again.
  void finish();

  /// What that user's gateway, which is about to be started, is to count in.
  Result<Fd> begin_gateway(std::uint32_t uid);
  void end_gateway(std::uint32_t uid);

  /// Of the supervisor's own.
  void count(metrics::Metric metric) { own_.add(metrics::place_of(metric), 1); }
  void set(metrics::Metric metric, std::uint64_t value) {
    own_.set(metrics::place_of(metric), value);
  }

 private:
  struct Gateway {
    std::uint64_t number = 0;
    Fd page;  ///< to be read
  };

  MetricsHost(boost::asio::io_context& loop, MetricsSocket socket, AskLauncher ask_launcher,
              Fd own_page, MetricsPage own);
  void tell(wire::MetricsTells kind, std::uint64_t number = 0);
  void tell_what_waits();
  SysResult<void> send(const wire::MetricsNews& news) const;
  int page_of(const wire::MetricsNews& news) const;
  void retry_later();
  void break_off();
  void end_it();
  void start_again_later();

  MetricsSocket socket_;
  AskLauncher ask_launcher_;
  Fd own_page_;
  MetricsPage own_;
  Fd channel_;                                 ///< not valid: nobody is told
  std::map<std::uint32_t, Gateway> gateways_;  ///< by uid
  std::deque<wire::MetricsNews> untold_;
  std::uint64_t last_number_ = 0;
  bool running_ = false;
  bool finished_ = false;
  bool is_renewed_ = false;  ///< it is to end, and another one begins
  std::chrono::milliseconds delay_;
  std::chrono::steady_clock::time_point started_at_;
  boost::asio::steady_timer timer_;
  boost::asio::steady_timer retry_;
};

}  // namespace cellblock::daemon
