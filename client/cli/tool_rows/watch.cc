#include "client/cli/tool_rows/watch.h"

#include <array>
#include <string>
#include <vector>

#include "client/cli/table/shared_options.h"
#include "client/cli/table/words.h"

namespace cellblock::cli {
namespace {

constexpr std::array<Unit, 2> interval_units{{{"ms", 0.001}, {"s", 1}}};
constexpr double shortest_interval = 0.2;
constexpr double longest_interval = 60;

// What was typed has become seconds by now.
std::string interval_mistake(const std::string& seconds) {
  const auto number = number_in(seconds);
  const bool is_allowed = number && *number >= shortest_interval && *number <= longest_interval;
  return is_allowed ? std::string() : "allowed: 200ms to 60s";
}

}  // namespace

constinit const Option interval_option{
    .name = "--interval",
    .what = "ask anew after this long: 500ms, 2s; a number alone is seconds",
    .placeholder = "TIME",
    .standard = "1s",
    .units = interval_units,
    .check = interval_mistake};
constinit const Option sort_option{
    .name = "--sort",
    .what = "by cpu, memory, calls (a second) or name",
    .placeholder = "ORDER",
    .standard = "cpu",
    .choices = [] { return std::vector<std::string>{"cpu", "memory", "calls", "name"}; }};
constinit const Option once_option =
    flag("--once", "print one table after that long, without a screen");

Command top_command() {
  return {.name = "top",
          .group = Group::see,
          .what = "what servers use and do, as it changes",
          .newer = "status --watch",
          .example = "cellblock top\n  cellblock top --once --sort memory",
          .options = {&interval_option, &sort_option, &once_option, &for_user},
          .tool = Tool::watch};
}

}  // namespace cellblock::cli
