#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>

#include "policy/failures/cell_facts.h"
#include "policy/metrics/families.h"
#include "supervisor/activation/bound_sockets.h"
#include "supervisor/daemon/helpers/restart_delay.h"
#include "supervisor/ipc/metrics_page.h"
#include "supervisor/ipc/wire.h"

namespace cellblock::daemon {

/// The supervisor's side of cellblock-metrics: keeps it running, makes the page that each gateway
/// counts in, and sends the pages to cellblock-metrics. Reads no byte of a scrape, and none from
/// cellblock-metrics, which sends nothing. One thread.
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
  /// Restarts cellblock-metrics, so that it learns the names of new servers.
  void config_changed();
  /// Ends cellblock-metrics for good.
  void finish();

  /// Makes the page for that user's new gateway; returns the gateway's descriptor of it.
  Result<Fd> begin_gateway(std::uint32_t uid);
  void end_gateway(std::uint32_t uid);

  /// Counts in the supervisor's own page.
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
  Fd channel_;                                 ///< not valid: cellblock-metrics does not run
  std::map<std::uint32_t, Gateway> gateways_;  ///< by uid
  std::deque<wire::MetricsNews> untold_;
  std::uint64_t last_number_ = 0;
  bool running_ = false;
  bool finished_ = false;
  bool is_renewed_ = false;  ///< cellblock-metrics ends, so that another one starts
  RestartDelay delay_;
  boost::asio::steady_timer timer_;
  boost::asio::steady_timer retry_;
};

}  // namespace cellblock::daemon
