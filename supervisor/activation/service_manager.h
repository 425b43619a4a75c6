#pragma once

#include <string>

#include "supervisor/activation/service_offer.h"
#include "supervisor/os/sys.h"

/// The service manager that started this process, if there is one: the socket that it passed, and
/// its notification socket. Its variables are removed from the environment, so that no program
/// started later uses them.
namespace cellblock::daemon {

struct ServiceManager {
  ServiceOffer offer;
  Fd socket;                  ///< with ServiceOffer::socket; close-on-exec, not checked yet
  std::string notify_socket;  ///< for ServiceNotify; empty: there is none
};

/// Call before any descriptor is opened: the passed socket is known by its number alone.
Result<ServiceManager> meet_service_manager();

}  // namespace cellblock::daemon
