#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "client/cli/add/added_files.h"
#include "client/cli/add/added_proposal.h"
#include "client/cli/add/added_table.h"
#include "client/cli/add/conversation.h"
#include "client/cli/add/new_server.h"
#include "client/cli/add/origin.h"
#include "client/cli/add/running_daemon.h"
#include "client/cli/commands/commands.h"
#include "client/cli/import/bounded_file.h"
#include "client/cli/import/input_json.h"
#include "client/cli/import/machine_view.h"
#include "client/cli/table/words.h"
#include "client/cli/terminal/terminal_text.h"

// Servers that `cellblock add` made: a list of them, another version, the end.
namespace cellblock::cli {
namespace {

namespace fs = std::filesystem;
using Ordered = nlohmann::ordered_json;
using Names = std::vector<std::string>;

constexpr Option added_name{.name = "NAME",
                            .what = "the server, as `cellblock servers` lists it",
                            .completes = Completes::servers};
constexpr Option without_question{
    .name = "--yes", .what = "without being asked", .values = Values::none};
constexpr Option back_option{
    .name = "--rollback", .what = "back to the version before", .values = Values::none};

constexpr unsigned readable = 0644;

struct UpdateRequest {
  std::string server;      ///< empty: all that were added
  bool agrees = false;     ///< without being asked
  bool goes_back = false;  ///< to the version before
};

Context with_mode(Context context, const AddPlaces& places) {
  context.mode = places.mode;
  return context;
}

PackageName npm_package(const std::string& name) {
  return {.registry = Registry::npm, .name = name, .version = {}};
}

Result<std::string> script_in(const std::string& directory, const std::string& package) {
  const auto installed = this_machine().installed(directory, npm_package(package));
  if (installed) return installed->entry;
  return fail(fmt::format("{} is not in {}", safe_line(package), safe_line(directory)));
}

// ---- another version ----

struct Change {
  std::string declaration;  ///< path
  std::string before;       ///< its text
  std::string after;
  Origin origin;  ///< as it is to be
};

Result<std::string> moved_text(const std::string& text, const Origin& from,
                               const std::string& directory) {
  return moved(text, {.from = from.directory,
                      .to = directory,
                      .old_script = CELLBLOCK_TRY(script_in(from.directory, from.package)),
                      .new_script = CELLBLOCK_TRY(script_in(directory, from.package))});
}

// "1.2.3-67a4adf5" ends with the digest of a lock file.
std::string version_of(const std::string& directory) {
  const auto name = fs::path(directory).filename().string();
  return name.substr(0, name.rfind('-'));
}

Result<Change> change_to(const AddPlaces& places, const std::string& server, const Origin& origin,
                         const std::string& directory) {
  Change change{.declaration = declaration_of(places, server)};
  change.before = CELLBLOCK_TRY(bounded_file(change.declaration, max_import_bytes));
  change.after = CELLBLOCK_TRY(moved_text(change.before, origin, directory));
  change.origin = origin;
  change.origin.directory = directory;
  change.origin.version = version_of(directory);
  change.origin.previous = origin.directory;
  return change;
}

// The old text comes back where the configuration is not usable with the new one.
Result<void> carry_out(const Work& work, const std::string& server, const Change& change) {
  CELLBLOCK_CHECK(replace_file(change.declaration, change.after, readable));
  const auto usable = check_configuration(work.context, work.places);
  if (!usable) {
    CELLBLOCK_CHECK(replace_file(change.declaration, change.before, readable));
    return usable;
  }
  const auto written = write_origin(work.places, server, change.origin);
  if (!written) CELLBLOCK_CHECK(replace_file(change.declaration, change.before, readable));
  return written;
}

Names difference(Names some, Names others) {
  std::ranges::sort(some);
  std::ranges::sort(others);
  Names left;
  std::ranges::set_difference(some, others, std::back_inserter(left));
  return left;
}

std::string tool_changes(const Names& listed, const Trial& trial) {
  if (listed.empty() || listed == Names{"*"}) return tools_line(trial.tools) + "\n";
  std::string text = tools_line(trial.tools) + "\n";
  const auto fresh = difference(trial.tools, listed);
  const auto gone = difference(listed, trial.tools);
  if (!fresh.empty()) {
    text += fmt::format("new, and not allowed until allow.tools names them: {}\n",
                        safe_line(fmt::format("{}", fmt::join(fresh, ", "))));
  }
  if (!gone.empty()) {
    text += fmt::format("gone: {}\n", safe_line(fmt::format("{}", fmt::join(gone, ", "))));
  }
  return text;
}

void remove_version(const std::string& directory) {
  std::error_code ignored;
  if (!directory.empty()) fs::remove_all(directory, ignored);
}

/// What became of one server, in words.
struct Outcome {
  std::string words;
  bool is_changed = false;
};

Result<Outcome> update_one(const Work& work, const UpdateRequest& request,
                           const std::string& server, const Interruption& interruption) {
  const auto origin = CELLBLOCK_TRY(origin_of(work.places, server));
  if (origin.package.empty()) return Outcome{"is no package of npm: nothing to update"};
  const auto settings = CELLBLOCK_TRY(npm_settings(origin.package));
  tell(work.context, fmt::format("{}: installing the newest {}", server, origin.package));
  const auto scripts = origin.runs_scripts ? InstallScripts::run : InstallScripts::left_out;
  auto version = CELLBLOCK_TRY(install_version(work, server, origin.directory,
                                               npm_package(origin.package), settings, scripts));
  if (!version) return Outcome{fmt::format("{} is the newest", origin.version)};
  const auto change = CELLBLOCK_TRY(change_to(work.places, server, origin, version->directory()));
  const auto trial = CELLBLOCK_TRY(try_declaration(work, server, change.after));
  if (trial.failure) {
    return fail(fmt::format("{} does not start, {} stays: {}\n{}", version->version(),
                            origin.version, safe_text(trial.failure->text), refused_lines(trial)));
  }
  const auto listed = CELLBLOCK_TRY(listed_tools(change.before, server));
  tell(work.context, fmt::format("{}: {} -> {}\n{}{}", server, origin.version, version->version(),
                                 tool_changes(listed, trial), refused_lines(trial)));
  if (!request.agrees && !agrees(interruption, fmt::format("Update \"{}\"?", server))) {
    return fail("nothing was changed");
  }
  CELLBLOCK_CHECK(carry_out(work, server, change));
  version->keep();
  if (origin.previous != version->directory()) remove_version(origin.previous);
  return Outcome{fmt::format("{} -> {}; definitions that changed are withheld until `cellblock pin "
                             "accept {}`; `cellblock "
                             "update --rollback {}` takes it back",
                             origin.version, version->version(), server, server),
                 true};
}

Result<Outcome> roll_back(const Work& work, const std::string& server) {
  const auto origin = CELLBLOCK_TRY(origin_of(work.places, server));
  if (origin.previous.empty()) return fail("no version before this one is kept");
  const auto change = CELLBLOCK_TRY(change_to(work.places, server, origin, origin.previous));
  CELLBLOCK_CHECK(carry_out(work, server, change));
  return Outcome{fmt::format("{} -> {}", origin.version, change.origin.version), true};
}

// ---- the list ----

std::string server_line(const AddPlaces& places, const std::string& server, std::size_t width) {
  const auto origin = origin_of(places, server);
  if (!origin) return fmt::format("{:<{}}  {}", safe_line(server), width, origin.error().text);
  const auto what = origin->package.empty()
                        ? fmt::format("{}", fmt::join(origin->command, " "))
                        : fmt::format("{} {}", origin->package, origin->version);
  return fmt::format("{:<{}}  {}", safe_line(server), width, safe_line(what));
}

Ordered server_json(const AddPlaces& places, const std::string& server) {
  const auto origin = origin_of(places, server);
  if (!origin) return Ordered{{"server", server}, {"error", origin.error().text}};
  return Ordered{{"server", server},
                 {"package", origin->package},
                 {"version", origin->version},
                 {"command", origin->command},
                 {"file", declaration_of(places, server)}};
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

Exit run_update(const Context& context, const Words& words) {
  const UpdateRequest request{.server = words.text(added_name),
                              .agrees = words.has(without_question),
                              .goes_back = words.has(back_option)};
  if (request.goes_back && request.server.empty()) {
    return cannot(context, "say which server goes back: --rollback NAME");
  }
  const bool asks = !request.agrees && !request.goes_back;
  if (asks && !can_ask(context)) return cannot(context, nobody_to_ask);
  const Interruption interruption;
  const auto places = add_places(context);
  if (!places) return cannot(context, places.error().text);
  const auto asked = with_mode(context, *places);
  Exit exit = Exit::ok;
  bool is_changed = false;
  const auto servers = request.server.empty() ? added_servers(*places) : Names{request.server};
  const auto group = daemon_group(*places);
  if (!group) return cannot(context, group.error().text);
  for (const auto& server : servers) {
    const auto scratch = Scratch::make(places->servers, *group);
    if (!scratch) return cannot(context, scratch.error().text);
    const Work work{asked, *places, *scratch, interruption.token()};
    const auto done = request.goes_back ? roll_back(work, server)
                                        : update_one(work, request, server, interruption);
    if (!done) exit = cannot(context, fmt::format("{}: {}", server, done.error().text));
    if (done) say_done(context, server, done->words);
    is_changed = is_changed || (done && done->is_changed);
    if (interruption.token().stop_requested()) return Exit::error;
  }
  if (is_changed) tell(context, reload_daemon(asked, *places));
  return exit;
}

Exit run_remove(const Context& context, const Words& words) {
  const auto server = words.text(added_name);
  const auto places = add_places(context);
  if (!places) return cannot(context, places.error().text);
  const auto origin = origin_of(*places, server);
  if (!origin) return cannot(context, origin.error().text);
  const auto declaration = declaration_of(*places, server);
  const auto text = bounded_file(declaration, max_import_bytes).value_or("");
  const auto secrets = secret_files_in(text, server, places->secrets).value_or(Names{});
  std::error_code error;
  fs::remove(declaration, error);
  if (error) return cannot(context, fmt::format("{}: {}", declaration, error.message()));
  tell(context, reload_daemon(with_mode(context, *places), *places));
  for (const auto& file : secrets) fs::remove(file, error);
  fs::remove_all(directory_of(*places, server), error);
  if (error) return cannot(context, fmt::format("{}: {}", server, error.message()));
  say_done(context, server, "removed; what it kept in its home stays");
  return Exit::ok;
}

Exit run_servers(const Context& context, const Words& /*none*/) {
  const auto places = add_places(context);
  if (!places) return cannot(context, places.error().text);
  const auto servers = added_servers(*places);
  if (context.output == Output::json) {
    Ordered list = Ordered::array();
    for (const auto& server : servers) list.push_back(server_json(*places, server));
    return print_json(as_text(list));
  }
  std::size_t width = 0;
  for (const auto& server : servers) width = std::max(width, server.size());
  for (const auto& server : servers) fmt::print("{}\n", server_line(*places, server, width));
  if (servers.empty()) tell(context, "no server was added with `cellblock add`");
  return Exit::ok;
}

}  // namespace

Command servers_command() {
  return {.name = "servers",
          .group = Group::set_up,
          .what = "the servers that were added, and their versions",
          .example = "cellblock servers",
          .run = run_servers};
}

Command update_command() {
  return {.name = "update",
          .group = Group::set_up,
          .what = "the newest version of an added server, or of all, once it works",
          .example = "cellblock update files\n  cellblock update --rollback files",
          .optional = {&added_name},
          .options = {&without_question, &back_option},
          .run = run_update};
}

Command remove_command() {
  return {.name = "remove",
          .group = Group::set_up,
          .what = "remove an added server: its declaration, program and secrets",
          .example = "cellblock remove files",
          .required = {&added_name},
          .run = run_remove};
}

}  // namespace cellblock::cli
