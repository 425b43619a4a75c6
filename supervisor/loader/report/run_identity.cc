#include "supervisor/loader/report/run_identity.h"

#include <fmt/format.h>

#include <string_view>

#include "policy/config/names.h"

namespace cellblock {
namespace {

std::string dedicated_uid(RunMode mode) {
  return mode == RunMode::user
             ? "a dedicated uid of /etc/subuid, or as you yourself where it gives none"
             : "a dedicated uid";
}

}  // namespace

std::string run_identity(const Server& server, RunMode mode) {
  if (server.run_as.kind != RunAsKind::own) return std::string(run_as_name(server.run_as));
  if (server.owner_mounts.empty()) return dedicated_uid(mode);
  const std::size_t paths = server.owner_mounts.size();
  return fmt::format("{}, and as its client at {} path{}", dedicated_uid(mode), paths,
                     paths == 1 ? "" : "s");
}

}  // namespace cellblock
