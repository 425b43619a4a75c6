#include "policy/rates/busy_text.h"

#include <fmt/format.h>

#include "policy/rates/rate_text.h"

namespace cellblock {
namespace {

std::string whose(BoundOf of, std::string_view server, std::string_view tool) {
  switch (of) {
    case BoundOf::user:
      return "of yours, all servers together";
    case BoundOf::session:
      return "of this session";
    case BoundOf::server:
      return fmt::format("of server \"{}\"", server);
    case BoundOf::tool:
      break;
  }
  return fmt::format("of tool \"{}\" of server \"{}\"", tool, server);
}

}  // namespace

std::string busy_text(const Busy& busy, std::string_view server, std::string_view tool) {
  const std::string calls = whose(busy.of, server, tool);
  const std::string again = wait_text(busy.retry_after);
  switch (busy.why) {
    case Busy::Why::rate:
      return fmt::format("too many calls {}: {} are allowed; try again in {}", calls,
                         rate_text(*busy.bounds.rate), again);
    case Busy::Why::log_share:
      return fmt::format(
          "too many calls {}: in one day the calls, sessions and cells of one user may take a "
          "quarter of the audit "
          "log; "
          "try again in {} (an administrator can make the log larger: audit.keep, audit.max_bytes)",
          calls, again);
    case Busy::Why::waited:
      return fmt::format("no place became free in time among the calls {}; try again in {}", calls,
                         again);
    case Busy::Why::in_flight:
      break;
  }
  const std::string waiting =
      busy.wait == 0 ? std::string{} : fmt::format(", and {} more wait", busy.wait);
  return fmt::format(
      "too many calls {} at one time: {} are allowed{}; try again when one is answered, or in {}",
      calls, *busy.bounds.in_flight, waiting, again);
}

}  // namespace cellblock
