#include "policy/config/leave_out.h"

#include <string>
#include <utility>

namespace cellblock {
namespace {

// Who hears it knows which server it is about.
std::string without_prefix(std::string cause, const std::string& name) {
  const std::string prefix = "server." + name + ".";
  if (cause.starts_with(prefix)) cause.erase(0, prefix.size());
  return cause;
}

}  // namespace

void leave_out(Server& server, Breakage why) {
  server.breakage = std::move(why);
  server.breakage.cause = without_prefix(std::move(server.breakage.cause), server.name);
  server.secrets.clear();
  server.secret_marks = {};
  server.owner_mounts.clear();
}

}  // namespace cellblock
