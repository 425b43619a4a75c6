#pragma once

#include "supervisor/daemon/activation/service_offer.h"
#include "supervisor/os/sys.h"

namespace cellblock::daemon {

struct ServiceManager {
  ServiceOffer offer;
  Fd socket;  ///< with ServiceOffer::socket; close-on-exec, and not looked at yet
};

/// Takes what the service manager says out of the environment, so that nothing started later takes
/// it for itself. Before anything is opened: descriptors are counted, not named.
Result<ServiceManager> meet_service_manager();

}  // namespace cellblock::daemon
