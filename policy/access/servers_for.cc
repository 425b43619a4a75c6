#include "policy/access/servers_for.h"

#include <cstddef>

#include "policy/access/rights.h"

namespace cellblock {

ServerSet servers_for(const Config& config, const Subject& subject) {
  ServerSet permitted;
  for (std::size_t i = 0; i < config.servers.size() && i < max_servers; ++i) {
    if (Rights(config.servers[i].rules, subject).may_use_server()) permitted.add(i);
  }
  return permitted;
}

}  // namespace cellblock
