#include "supervisor/gateway/policy/session_access.h"

namespace cellblock::gateway {

void SessionAccess::narrow(const Config& config, const Subject& subject) {
  servers_ = {};
  rights_.resize(config.servers.size());  // once: there are never more or fewer
  for (std::size_t i = 0; i < rights_.size(); ++i) {
    rights_[i] = Rights(config.servers[i].rules, subject);
    if (i < max_servers && rights_[i].may_use_server()) servers_.add(i);
  }
}

}  // namespace cellblock::gateway
