#include "policy/rates/rate_text.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace cellblock {
namespace {

struct Period {
  std::string_view name;
  std::chrono::milliseconds length;
};

constexpr std::array periods = {Period{"/s", std::chrono::seconds{1}},
                                Period{"/m", std::chrono::minutes{1}},
                                Period{"/h", std::chrono::hours{1}}};

const Period* find_period(std::string_view name) {
  for (const Period& period : periods) {
    if (period.name == name) return &period;
  }
  return nullptr;
}

std::string_view name_of(std::chrono::milliseconds length) {
  for (const Period& period : periods) {
    if (period.length == length) return period.name;
  }
  return "/?";
}

}  // namespace

Result<Rate> parse_rate(std::string_view text) {
  Rate rate;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rate.count);
  const Period* period = error == std::errc{}
                             ? find_period(text.substr(static_cast<std::size_t>(end - text.data())))
                             : nullptr;
  if (period == nullptr || rate.count == 0 || rate.count > most_calls) {
    return fail(
        fmt::format("\"{}\" is not a rate; allowed: a whole number from 1 to {} and one of "
                    "/s, /m, /h, like \"10/s\"",
                    text, most_calls));
  }
  rate.period = period->length;
  rate.burst = rate.count;
  return rate;
}

std::string rate_text(const Rate& rate) {
  std::string text = fmt::format("{}{}", rate.count, name_of(rate.period));
  if (rate.burst != rate.count) text += fmt::format(", {} at once", rate.burst);
  return text;
}

std::string wait_text(std::chrono::milliseconds time) {
  constexpr std::int64_t second = 1'000;
  const std::int64_t count = time.count();
  if (count < second) return fmt::format("{}ms", count);
  const std::int64_t tenths = (count + 99) / 100;
  if (tenths % 10 == 0 || tenths >= 100) return fmt::format("{}s", (tenths + 9) / 10);
  return fmt::format("{}.{}s", tenths / 10, tenths % 10);
}

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
