#include "supervisor/gateway/checks/session_access.h"

#include <algorithm>

namespace cellblock::gateway {

void SessionAccess::narrow(const Config& config, const Subject& subject) {
  use_none();
  rights_.resize(max_servers);  // once, for all that there can be
  for (std::size_t i = 0; i < config.servers.size() && i < max_servers; ++i) {
    rights_[i] = Rights(config.servers[i].rules, subject);
    if (rights_[i].may_use_server()) use(i, config.servers[i].lines);
  }
}

void SessionAccess::give_up() {
  use_none();
  for (Rights& rights : rights_) rights = Rights();
}

void SessionAccess::use_none() {
  servers_ = {};
  longest_from_host_ = least_from_host;
  longest_to_host_ = least_to_host;
}

void SessionAccess::use(std::size_t server, const LineLimits& lines) {
  servers_.add(server);
  longest_from_host_ = std::max(longest_from_host_, lines.from_host);
  longest_to_host_ = std::max(longest_to_host_, lines.to_host);
}

}  // namespace cellblock::gateway
