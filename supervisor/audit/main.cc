#include <fmt/format.h>
#include <sys/random.h>

#include <cstdint>
#include <string>
#include <utility>

#include "supervisor/audit/audit_writer.h"
#include "supervisor/ipc/wire.h"
#include "supervisor/os/helper_process.h"

/// cellblock-audit: started by the launcher in a cell of its own, with the descriptors of
/// wire::audit_fd, no argument and no environment.
namespace {

using namespace cellblock;

Result<std::string> random_name() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof(number), 0) != sizeof(number)) return sys_fail("getrandom");
  return fmt::format("{:016x}", number);
}

Result<void> run() {
  CELLBLOCK_CHECK(forbid_looking_in());
  std::string boot = CELLBLOCK_TRY(random_name());
  audit::AuditWriter writer(Fd(wire::audit_fd::control),
                            {.log = Fd(wire::audit_fd::log),
                             .written = Fd(wire::audit_fd::written),
                             .former = Fd(wire::audit_fd::former)},
                            std::move(boot));
  return writer.run();
}

}  // namespace

int main() { return run_helper("cellblock-audit", run); }
