#include "policy/reload/places.h"

#include <algorithm>
#include <optional>

#include "policy/base/server_set.h"

namespace cellblock {
namespace {

bool keeps_token_places(const std::optional<HttpListen>& used,
                        const std::optional<HttpListen>& next) {
  if (!used || !next) return true;  // what they change is refused
  const auto& before = used->tokens;
  const auto& after = next->tokens;
  if (after.size() < before.size() || after.size() > max_token_places) return false;
  return std::equal(before.begin(), before.end(), after.begin(),
                    [](const HttpToken& one, const HttpToken& other) {
                      return one == other || (other.revoked && one.name == other.name);
                    });
}

}  // namespace

bool keeps_places(const Config& used, const Config& next) {
  if (next.servers.size() < used.servers.size() || next.servers.size() > max_servers) return false;
  if (!keeps_token_places(used.http, next.http)) return false;
  return std::equal(used.servers.begin(), used.servers.end(), next.servers.begin(),
                    [](const Server& one, const Server& other) { return one.name == other.name; });
}

}  // namespace cellblock
