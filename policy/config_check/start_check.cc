#include "policy/config_check/start_check.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "policy/config_check/choice_check.h"

namespace cellblock {
namespace {

constexpr Range<std::int64_t> warm_range{0, 8};

constexpr std::array starts = {Choice<CellStart>{"on-demand", CellStart::on_demand},
                               Choice<CellStart>{"session", CellStart::session}};

// Why there can be no cell that waits for any session; empty: there can.
std::string_view no_spare_cells(const Server& server) {
  if (server.workspace) return "a cell with a workspace cannot start before its session";
  if (server.cells == CellSharing::per_user) {
    return "with cells = \"per-user\" all sessions share one cell, which when = \"session\" starts "
           "early";
  }
  return {};
}

// `text`: at least 1.
void check_warm(const Scope& scope, const Maybe<std::int64_t>& text, const Server& server) {
  const std::string_view never = no_spare_cells(server);
  if (!never.empty()) return scope.error(text->at, "warm", fmt::format("{}; allowed: 0", never));
  if (text->value < server.max_cells_per_user) return;
  scope.error(text->at, "warm",
              fmt::format("leaves no session a cell; allowed: less than max_cells_per_user ({})",
                          server.max_cells_per_user));
}

}  // namespace

StartRules check_start_rules(const Scope& scope, const ServerText& text, const Server& server) {
  const Scope here = scope.below("start");
  StartRules rules;
  check_choice(here, "when", text.start.when, starts, rules.when);
  check_integer(here, "warm", text.start.warm, warm_range, rules.warm);
  if (rules.warm > 0) check_warm(here, text.start.warm, server);
  return rules;
}

}  // namespace cellblock
