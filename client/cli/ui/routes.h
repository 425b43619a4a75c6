#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "client/cli/ui/http_message.h"

/// Maps a request to a file of the page, the login, the events, or a command of `cellblock` that is
/// run with exactly these words. There are no other routes.
namespace cellblock::cli::ui {

struct PageRoute {
  std::string path;
};
struct LoginRoute {
  std::string token;
};
/// The running servers and waiting calls, as they change.
struct EventsRoute {};
/// The words behind `cellblock --json`.
struct CommandRoute {
  enum class Kind : std::uint8_t {
    reads,
    follows,  ///< lines follow as they come, until the reader closes
    changes,
  };
  std::vector<std::string> words;
  Kind kind = Kind::reads;
};
struct RefusedRoute {
  unsigned status = 404;
  std::string_view why = "there is no such page";
};

using Route = std::variant<PageRoute, LoginRoute, EventsRoute, CommandRoute, RefusedRoute>;

Route route_of(const HttpRequest& request);

}  // namespace cellblock::cli::ui
