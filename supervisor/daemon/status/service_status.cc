#include "supervisor/daemon/status/service_status.h"

#include <fmt/format.h>

#include "policy/base/printable.h"

namespace cellblock::daemon {
namespace {

std::string_view plural_of(std::string_view noun) { return noun.ends_with('s') ? "es" : "s"; }

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : plural_of(noun));
}

}  // namespace

std::string status_line(const ServiceFacts& facts) {
  std::string line = fmt::format("{} declared, {}, {}", counted(facts.servers, "server"),
                                 counted(facts.users, "user"), counted(facts.cells, "cell"));
  if (facts.broken > 0) line += fmt::format("; {} broken: see \"cellblock check\"", facts.broken);
  if (facts.switched_off) line += "; switched off: everybody is refused";
  if (!facts.audit_runs) line += "; the audit writer is gone: calls are refused";
  if (facts.stuck_closes > 0) {
    line += fmt::format("; connections of uid {} cannot be closed ({})", facts.stuck_uid,
                        counted(facts.stuck_closes, "waiting process"));
  }
  if (!facts.last_failure.empty()) line += "; last failure: " + printable(facts.last_failure);
  return line;
}

}  // namespace cellblock::daemon
