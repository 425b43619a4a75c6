#include "policy/failures/helper_end.h"

#include <fmt/format.h>

#include <string_view>
#include <system_error>

#include "policy/failures/setup_step.h"

namespace cellblock {
namespace {

std::string explain_step(SetupStep step, int error) {
  std::string text =
      fmt::format("failed at step {}: {}", name_of(step), std::generic_category().message(error));
  const std::string_view hint = hint_for(step, error);
  if (!hint.empty()) text += fmt::format(" ({})", hint);
  return text;
}

}  // namespace

std::string explain_end(const CellFacts& facts) {
  switch (facts.kind) {
    case EndKind::setup_failed:
      return explain_step(facts.step, facts.error);
    case EndKind::exited:
      return fmt::format("exited with code {}", facts.exit_code);
    case EndKind::signalled:
      return fmt::format("was killed by signal {}", facts.signal);
    case EndKind::killed_by_filter:
      return fmt::format("was killed by its filter for system call {}", facts.syscall_number);
    case EndKind::out_of_memory:
      return "was killed: out of memory";
    case EndKind::egress_ended:
      return "was killed: its egress helper ended";
    case EndKind::not_ended:
      break;
  }
  return "ended";
}

bool ended_well(const CellFacts& facts) {
  return facts.kind == EndKind::exited && facts.exit_code == 0;
}

}  // namespace cellblock
