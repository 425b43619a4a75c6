#pragma once

#include <string>

#include "supervisor/daemon/activation/service_offer.h"
#include "supervisor/os/sys.h"

/// The service manager that started this process, where one did: what it passed, and where it is
/// told. What it said is taken out of the environment, so that nothing started later takes it for
/// itself or speaks for us.
namespace cellblock::daemon {

struct ServiceManager {
  ServiceOffer offer;
  Fd socket;                  ///< with ServiceOffer::socket; close-on-exec, and not looked at yet
  std::string notify_socket;  ///< for ServiceNotify; empty: there is none
};

/// Before anything is opened: descriptors are counted, not named.
Result<ServiceManager> meet_service_manager();

}  // namespace cellblock::daemon
