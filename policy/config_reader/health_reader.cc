#include "policy/config_reader/health_reader.h"

namespace cellblock {

HealthText read_health(TableReader reader) {
  HealthText health;
  health.ping = reader.text("ping");
  health.timeout = reader.text("timeout");
  return health;
}

}  // namespace cellblock
