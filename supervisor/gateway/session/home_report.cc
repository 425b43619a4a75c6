#include "supervisor/gateway/session/home_report.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "policy/config/names.h"
#include "policy/failures/errno_and_signal_names.h"

namespace cellblock::gateway {
namespace {

constexpr std::array<std::string_view, 6> answers{"done",     "none",   "in_use",
                                                  "too_many", "failed", "not_permitted"};

std::string reason_of(const Server& server, const wire::HomeFacts& facts) {
  switch (facts.answer) {
    case wire::HomeAnswer::done:
      return "";
    case wire::HomeAnswer::none:
      return server.home == HomeKind::temporary ? "its home is temporary: each cell has a new one"
                                                : "it has made none yet for this user";
    case wire::HomeAnswer::in_use:
      return fmt::format("a cell of it is there: `cellblock stop {}` ends it", server.name);
    case wire::HomeAnswer::too_many:
      return "more is left than is done at once: ask again";
    case wire::HomeAnswer::failed:
      return fmt::format("{}: {}", errno_name(facts.error), errno_sentence(facts.error));
    case wire::HomeAnswer::not_permitted:
      return "the user may not use this server";
  }
  return "";
}

}  // namespace

std::string home_json(const Server& server, wire::HomeAction action, const wire::HomeFacts& facts) {
  const auto answer = static_cast<std::size_t>(facts.answer);
  nlohmann::ordered_json json{{"server", server.name},
                              {"action", action == wire::HomeAction::clear ? "clear" : "show"},
                              {"home", name_of(server.home)},
                              {"answer", answers.at(answer)},
                              {"files", facts.files},
                              {"bytes", facts.bytes}};
  if (const auto reason = reason_of(server, facts); !reason.empty()) json["reason"] = reason;
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace cellblock::gateway
