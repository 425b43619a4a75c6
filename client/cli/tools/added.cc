#include "client/cli/tool_rows/added.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "client/cli/add/added_files.h"
#include "client/cli/add/new_server.h"
#include "client/cli/add/origin.h"
#include "client/cli/add/running_daemon.h"
#include "client/cli/add/server_update.h"
#include "client/cli/common/prompt.h"
#include "client/cli/table/words.h"
#include "client/cli/terminal/terminal_text.h"
#include "client/cli/tools/tools.h"

// Servers that `cellblock add` made: another version, the end.
namespace cellblock::cli {
namespace {

using Ordered = nlohmann::ordered_json;
using Names = std::vector<std::string>;

struct UpdateRequest {
  std::string server;      ///< empty: all that were added
  std::string bundle;      ///< the archive of another version, as a whole path
  bool agrees = false;     ///< without being asked
  bool goes_back = false;  ///< to the version before
};

Context with_mode(Context context, const AddPlaces& places) {
  context.mode = places.mode;
  return context;
}

std::string as_text(const Ordered& json) {
  return json.dump(-1, ' ', false, Ordered::error_handler_t::replace);
}

void say_done(const Context& context, const std::string& server, const std::string& what) {
  if (context.output == Output::json) {
    print_json(as_text(Ordered{{"server", server}, {"done", what}}));
  } else {
    fmt::print("{}: {}\n", server, what);
  }
}

Names servers_for(const UpdateRequest& request, const AddPlaces& places) {
  return request.server.empty() ? added_servers(places) : Names{request.server};
}

Result<UpdateOutcome> change_one(const Work& work, const UpdateRequest& request,
                                 const std::string& server, const Interruption& interruption) {
  return request.goes_back
             ? roll_back_server(work, server)
             : update_server(work, server, {.agrees = request.agrees, .bundle = request.bundle},
                             interruption);
}

// One after the other; what one lacks keeps none of the others back.
Exit update_all(const Context& context, const AddPlaces& places, const UpdateRequest& request,
                const Interruption& interruption) {
  const auto group = daemon_group(places);
  if (!group) return cannot(context, group.error().text);
  Exit exit = Exit::ok;
  bool is_changed = false;
  for (const auto& server : servers_for(request, places)) {
    if (interruption.token().stop_requested()) {
      exit = Exit::error;
      break;
    }
    const auto scratch = Scratch::make(places.servers, *group);
    if (!scratch) return cannot(context, scratch.error().text);
    const Work work{context, places, *scratch, interruption.token()};
    const auto done = change_one(work, request, server, interruption);
    if (!done) exit = cannot(context, fmt::format("{}: {}", server, done.error().text));
    if (done) say_done(context, server, done->words);
    is_changed = is_changed || (done && done->is_changed);
  }
  if (!is_changed) return exit;
  const auto reloaded = reload_daemon(context, places);
  tell(context, reloaded.words);
  return reloaded.is_failed ? Exit::error : exit;
}

std::string whole_archive(const std::string& file) {
  std::error_code ignored;
  return file.empty() ? file : std::filesystem::absolute(file, ignored).lexically_normal().string();
}

Result<void> check_bundle(const UpdateRequest& request) {
  std::error_code ignored;
  if (request.bundle.empty() || std::filesystem::exists(request.bundle, ignored)) return {};
  return fail(fmt::format("{}: there is no such file", safe_line(request.bundle)));
}

bool is_removal_meant(const std::string& server, const std::string& home) {
  const Interruption interruption;
  return agrees(interruption, fmt::format("Remove \"{}\", its declaration, program and secrets{}?",
                                          server, home));
}

}  // namespace

Exit run_update(const Context& context, const Words& words) {
  const UpdateRequest request{.server = words.text(added_name),
                              .bundle = whole_archive(words.text(other_bundle)),
                              .agrees = words.has(without_question),
                              .goes_back = words.has(back_option)};
  if (request.goes_back && !request.bundle.empty()) {
    return cannot(context, "--rollback takes the version before: it needs no FILE");
  }
  if (request.goes_back && request.server.empty()) {
    return cannot(context, "say which server goes back: --rollback NAME");
  }
  const Interruption interruption;
  const auto places = add_places(context);
  if (!places) return cannot(context, places.error().text);
  if (!request.server.empty() && !was_added(*places, request.server)) {
    return explain(context, not_added(request.server));
  }
  const auto sound = check_bundle(request);
  if (!sound) return cannot(context, sound.error().text);
  const bool asks = !request.agrees && !request.goes_back;
  if (asks && !can_ask(context)) return cannot(context, nobody_to_ask);
  return update_all(with_mode(context, *places), *places, request, interruption);
}

Exit run_remove(const Context& context, const Words& words) {
  const auto server = words.text(added_name);
  const bool clears = words.has(home_option);
  const bool asks = !words.has(without_question);
  const auto places = add_places(context);
  if (!places) return cannot(context, places.error().text);
  if (!was_added(*places, server)) return explain(context, not_added(server));
  const auto known = origin_of(*places, server);
  if (!known) return cannot(context, known.error().text);
  if (asks && !can_ask(context)) return cannot(context, nobody_to_ask);
  if (asks && !is_removal_meant(server, clears ? ", and what it kept in its home" : "")) {
    return cannot(context, "nothing was changed");
  }
  // Nothing is installed in it: its lock keeps an update of that server away.
  const auto scratch = Scratch::make(places->servers, std::nullopt);
  if (!scratch) return cannot(context, scratch.error().text);
  const auto asked = with_mode(context, *places);
  const auto cleared = clears ? clear_home(asked, *places, server) : Result<void>();
  if (!cleared) return cannot(context, cleared.error().text);
  const auto removed = remove_server(asked, *places, server);
  if (!removed) return cannot(context, fmt::format("{}: {}", server, removed.error().text));
  if (removed->is_failed) {
    return cannot(context,
                  fmt::format("{}: its files are removed, but {}", server, removed->words));
  }
  tell(context, removed->words);
  say_done(context, server, clears ? "removed" : "removed; what it kept in its home stays");
  return Exit::ok;
}

}  // namespace cellblock::cli
