#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "supervisor/daemon/activation/service_offer.h"
#include "supervisor/os/sys.h"

/// The service manager that started this process, where one did: what it passed, and what it is
/// told. What it said is taken out of the environment, so that nothing started later takes it for
/// itself or speaks for us.
namespace cellblock::daemon {

struct ServiceManager {
  ServiceOffer offer;
  Fd socket;  ///< with ServiceOffer::socket; close-on-exec, and not looked at yet
};

/// Before anything is opened: descriptors are counted, not named.
Result<ServiceManager> meet_service_manager();

/// Its notification socket (sd_notify(3)). Without one nothing is sent.
class ServiceNotify {
 public:
  /// Its address is taken out of the environment.
  ServiceNotify();
  /// That the program which became this one has taken. Empty: there is none.
  explicit ServiceNotify(std::string address) : address_(std::move(address)) {}

  bool is_there() const { return !address_.empty(); }
  const std::string& address() const { return address_; }

  /// "READY=1". Best effort: the manager notices a missing message by its own timeout.
  void send(std::string_view state) const;

 private:
  std::string address_;
};

}  // namespace cellblock::daemon
