#pragma once

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "policy/config/config.h"
#include "supervisor/activation/service_notify.h"
#include "supervisor/activation/service_offer.h"
#include "supervisor/daemon/helpers/helpers.h"
#include "supervisor/daemon/helpers/launcher_watchdog.h"
#include "supervisor/daemon/status/service_status.h"
#include "supervisor/handover/launcher_process.h"

namespace cellblock::daemon {

/// Tells the service manager the daemon's state, its status line, and that it and the launcher are
/// alive. One thread.
class ServiceReporter {
 public:
  /// The references outlive it.
  struct Parts {
    const Config& config;
    const ServiceNotify& service;
    LauncherProcess& launcher;
    Helpers& helpers;
  };

  /// `facts`: what the status line tells, without the cells.
  ServiceReporter(const Parts& parts, std::function<ServiceFacts()> facts);

  /// Pings the launcher from now on, if there is a service manager.
  void start_watchdog(boost::asio::io_context& loop, const ServiceOffer& offer);
  /// The launcher has answered a ping, so its event loop and this one are alive. False: it was not
  /// asked.
  [[nodiscard]] bool launcher_answered(std::uint32_t cells);
  /// Cells of servers, by the launcher's last answer.
  std::uint32_t cells() const { return cells_; }

  // Sent with a new status line.
  void ready() const { tell(is_stopping_ ? "" : "READY=1\n"); }
  void changed() const { tell(""); }

  void reloading() const;
  void stopping(std::size_t users);

  /// Logs and counts the parts of the configuration that are left out. Only a start and a reload
  /// change them.
  void tell_broken() const;

 private:
  void tell(std::string_view with) const;

  const Config& config_;
  const ServiceNotify& service_;
  LauncherProcess& launcher_;
  Helpers& helpers_;
  std::function<ServiceFacts()> facts_;
  std::optional<LauncherWatchdog> watchdog_;  ///< none without a service manager
  bool is_watched_ = false;                   ///< the service manager waits for signs of life
  bool is_stopping_ = false;
  std::uint32_t cells_ = 0;
};

}  // namespace cellblock::daemon
