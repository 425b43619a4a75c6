#include "client/cli/tool_rows/purge.h"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/cli/common/prompt.h"
#include "client/cli/programs/configuration.h"
#include "client/cli/purge/data_places.h"
#include "client/cli/purge/user_data.h"
#include "client/cli/terminal/terminal_text.h"
#include "client/cli/terminal/unit_text.h"
#include "client/cli/tool_rows/added.h"
#include "client/cli/tools/tools.h"

// The end of what the system's daemon keeps about its users.
namespace cellblock::cli {
namespace {

std::string line_of(const KeptData& kept) {
  return fmt::format("  {:>10} {:>9} {}  {}: {}", size_text(kept.bytes), kept.files,
                     kept.files == 1 ? "file " : "files", safe_line(kept.path), kept.what);
}

void show(const std::vector<KeptData>& found) {
  fmt::print(stderr, "What is kept about users:\n");
  for (const KeptData& kept : found) fmt::print(stderr, "{}\n", line_of(kept));
  fmt::print(stderr,
             "Configuration and secrets, added servers, files of yours and users' own daemons "
             "stay.\n");
}

bool is_purge_meant() {
  const Interruption interruption;
  return agrees(interruption, "Remove all of it, for good?");
}

void say_removed(const Context& context, const std::vector<KeptData>& found) {
  if (context.output == Output::human) {
    fmt::print("{}\n", found.empty() ? "nothing is kept" : "removed");
    return;
  }
  auto removed = nlohmann::ordered_json::array();
  for (const KeptData& kept : found) {
    removed.push_back({{"path", kept.path}, {"files", kept.files}, {"bytes", kept.bytes}});
  }
  print_json(nlohmann::ordered_json{{"removed", removed}}.dump(
      -1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

// Tells of each that cannot be removed, and goes on with the next.
Exit remove_all_of(const Context& context, const std::vector<KeptData>& found) {
  Exit exit = Exit::ok;
  for (const KeptData& kept : found) {
    const auto removed = remove_data(kept);
    if (!removed) exit = cannot(context, removed.error().text);
  }
  if (exit == Exit::ok) say_removed(context, found);
  return exit;
}

}  // namespace

Exit run_purge(const Context& context, const Words& words) {
  const Configuration configuration = configuration_of(context);
  if (::geteuid() != 0 || configuration.mode == Mode::user) {
    return cannot(context,
                  "purge is root's, for the system's cellblock; your own keeps its data in "
                  "$XDG_STATE_HOME/cellblock: see state_directory in the documentation");
  }
  const auto places = data_places(configuration);
  if (!places) return cannot(context, places.error().text);
  // Held to the end, so that no daemon starts in what is being removed.
  const auto lock = lock_state(places->state_directory);
  if (!lock) return cannot(context, lock.error().text);
  const auto found = kept_data(*places);
  if (!found) return cannot(context, found.error().text);
  const bool asks = !words.has(without_question) && !found->empty();
  if (context.output == Output::human && !found->empty()) show(*found);
  if (asks && !can_ask(context)) return cannot(context, nobody_to_ask);
  if (asks && !is_purge_meant()) return cannot(context, "nothing was removed");
  return remove_all_of(context, *found);
}

}  // namespace cellblock::cli
