#include "policy/redaction/merged_secrets.h"

#include <algorithm>
#include <utility>

#include "policy/redaction/secret_marks.h"

namespace cellblock {

Secrets in_places_of(const Config& merged, const Config& fresh, Secrets secrets) {
  Secrets placed;
  placed.servers.resize(merged.servers.size());
  for (std::size_t i = 0; i < fresh.servers.size() && i < secrets.servers.size(); ++i) {
    const auto place = std::ranges::find(merged.servers, fresh.servers[i].name, &Server::name);
    if (place == merged.servers.end()) continue;
    const auto index = static_cast<std::size_t>(place - merged.servers.begin());
    placed.servers[index] = std::move(secrets.servers[i]);
  }
  return placed;
}

void keep_marks(const Config& used, Config& fresh, const Secrets& secrets) {
  for (std::size_t i = 0; i < fresh.servers.size() && i < secrets.servers.size(); ++i) {
    const auto& values = secrets.servers[i].values;
    const auto before = std::ranges::find(used.servers, fresh.servers[i].name, &Server::name);
    if (values.empty() || before == used.servers.end()) continue;
    if (mark_secrets(values, before->secret_marks.key) == before->secret_marks) {
      fresh.servers[i].secret_marks = before->secret_marks;
    }
  }
}

}  // namespace cellblock
