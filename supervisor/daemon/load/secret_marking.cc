#include "supervisor/daemon/load/secret_marking.h"

#include <sys/random.h>

#include <cerrno>
#include <cstdlib>

#include "policy/redaction/secret_marks.h"

namespace cellblock {
namespace {

MarkKeyBytes new_key() {
  MarkKeyBytes key{};
  // So few bytes come whole or not at all.
  while (::getrandom(key.data(), key.size(), 0) != static_cast<ssize_t>(key.size())) {
    if (errno != EINTR) std::abort();
  }
  return key;
}

}  // namespace

void mark_secrets(Config& config, const Secrets& secrets) {
  for (std::size_t i = 0; i < config.servers.size() && i < secrets.servers.size(); ++i) {
    if (secrets.servers[i].values.empty()) continue;
    config.servers[i].secret_marks = mark_secrets(secrets.servers[i].values, new_key());
  }
}

std::vector<UnmarkedSecret> unmarked_secrets(const Config& config, const Secrets& secrets) {
  std::vector<UnmarkedSecret> found;
  for (std::size_t i = 0; i < config.servers.size() && i < secrets.servers.size(); ++i) {
    const auto& values = secrets.servers[i].values;
    for (std::size_t k = 0; k < values.size() && k < config.servers[i].secrets.size(); ++k) {
      if (values[k].empty() || !is_too_short_to_mark(values[k])) continue;
      found.push_back({config.servers[i].name, config.servers[i].secrets[k].name});
    }
  }
  return found;
}

}  // namespace cellblock
