#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include "supervisor/audit/audit_writer.h"
#include "supervisor/kernel/wire.h"

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
  audit::AuditWriter writer(Fd(wire::audit_fd::control), Fd(wire::audit_fd::log),
                            CELLBLOCK_TRY(random_name()));
  return writer.run();
}

void say(std::string_view text) {
  static_cast<void>(std::fputs(fmt::format("cellblock-audit: {}\n", text).c_str(), stderr));
}

}  // namespace

int main() {
  try {
    const auto result = run();
    if (!result) say(result.error().text);
    return result ? 0 : 1;
  } catch (const std::exception& error) {
    say(error.what());
    return 1;
  }
}
