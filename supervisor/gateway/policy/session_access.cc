#include "supervisor/gateway/policy/session_access.h"

namespace cellblock::gateway {

void SessionAccess::narrow(const Config& config, const Subject& subject) {
  servers_ = {};
  rights_.resize(max_servers);  // once, for all that there can be
  for (std::size_t i = 0; i < config.servers.size() && i < max_servers; ++i) {
    rights_[i] = Rights(config.servers[i].rules, subject);
    if (rights_[i].may_use_server()) servers_.add(i);
  }
}

void SessionAccess::give_up() {
  servers_ = {};
  for (Rights& rights : rights_) rights = Rights();
}

}  // namespace cellblock::gateway
