#include "client/cli/host_files/host_change.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "client/cli/common/prompt.h"
#include "client/cli/host_files/entry_match.h"
#include "client/cli/host_files/host_entries.h"
#include "client/cli/host_files/host_file.h"
#include "client/cli/host_files/host_text.h"
#include "client/cli/import/propose/machine_view.h"
#include "client/cli/import/propose/proposed_command.h"
#include "client/cli/import/read/declared_server.h"
#include "client/cli/terminal/json_text.h"
#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

struct KnownPlace {
  const char* host;
  const char* path;
};

constexpr std::array<KnownPlace, 9> below_home = {{
    {"Claude Code", "/.claude.json"},
    {"Claude Desktop", "/.config/Claude/claude_desktop_config.json"},
    {"VS Code", "/.config/Code/User/mcp.json"},
    {"Cursor", "/.cursor/mcp.json"},
    {"Codex", "/.codex/config.toml"},
    {"Gemini CLI", "/.gemini/settings.json"},
    {"Zed", "/.config/zed/settings.json"},
    {"Windsurf", "/.codeium/windsurf/mcp_config.json"},
    {"Cline",
     "/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"},
}};

constexpr std::array<KnownPlace, 5> in_project = {{
    {"Claude Code", "/.mcp.json"},
    {"VS Code", "/.vscode/mcp.json"},
    {"Cursor", "/.cursor/mcp.json"},
    {"Codex", "/.codex/config.toml"},
    {"Gemini CLI", "/.gemini/settings.json"},
}};

}  // namespace

std::vector<HostPlace> host_places(const std::string& home, const std::string& here) {
  std::vector<HostPlace> places;
  places.reserve(below_home.size() + in_project.size());
  for (const auto& [host, path] : below_home) places.push_back({.host = host, .path = home + path});
  if (here == home) return places;
  for (const auto& [host, path] : in_project) places.push_back({.host = host, .path = here + path});
  return places;
}

namespace {

namespace fs = std::filesystem;

using Texts = std::vector<std::string>;
using OwnServers = std::vector<OwnServer>;

// ---- which files ----

std::string home_directory() {
  const char* home = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe): one thread
  return home == nullptr ? std::string() : std::string(home);
}

bool is_there(const std::string& file) {
  std::error_code ignored;
  return fs::exists(file, ignored);
}

Texts files_of(const HostChange& change, bool (*is_meant)(const std::string& file)) {
  std::error_code ignored;
  if (!change.file.empty()) return {fs::absolute(change.file, ignored).lexically_normal().string()};
  Texts files;
  for (const auto& place : host_places(home_directory(), fs::current_path(ignored).string())) {
    if (is_meant(place.path)) files.push_back(place.path);
  }
  return files;
}

// ---- what becomes of one ----

struct FilePlan {
  std::string file;
  std::string before;
  std::string after;
  Texts lines;  ///< of what changes and what does not: for people
  Json changed = Json::object();
  bool is_changed() const { return before != after; }
};

std::string words_of(const Texts& arguments) {
  std::string words = "cellblock";
  for (const auto& word : arguments) words += " " + word;
  return words;
}

Result<FilePlan> plan_connection(const OwnServers& servers, const std::string& file) {
  FilePlan plan{.file = file, .before = CELLBLOCK_TRY(own_file(file))};
  const auto entries = host_entries(plan.before);
  if (!entries) return fail(fmt::format("{}: {}", safe_line(file), entries.error().text));
  std::error_code ignored;
  const auto here = fs::current_path(ignored).string();
  std::vector<Connection> connections;
  for (auto& fate : fates_of(*entries, servers, here, this_machine())) {
    const bool stays = fate.arguments.empty();
    const auto becomes = stays ? "stays: " + fate.why_it_stays : words_of(fate.arguments);
    const auto place = path_text(fate.entry->path);
    plan.lines.push_back(safe_line(fmt::format("{}: {}", place, becomes)));
    if (stays) continue;
    plan.changed[place] = fate.arguments;
    connections.push_back({.path = fate.entry->path, .arguments = std::move(fate.arguments)});
  }
  auto after = connected_text(plan.before, connections);
  if (!after) return fail(fmt::format("{}: {}", safe_line(file), after.error().text));
  plan.after = *std::move(after);
  return plan;
}

// An older backup has what the first change found; what it lacks is in the file as it is now.
Result<void> keep_backup(const FilePlan& plan) {
  auto original = plan.before;
  if (has_backup(plan.file)) {
    const auto older = CELLBLOCK_TRY(read_backup(plan.file));
    original = CELLBLOCK_TRY(restored_text(plan.before, older));
  }
  return write_backup(plan.file, original);
}

Result<void> carry_out_connection(const FilePlan& plan) {
  CELLBLOCK_CHECK(keep_backup(plan));
  return replace_own_file(plan.file, plan.before, plan.after);
}

// All that its host will start again, since the old text is what decides that. Values of variables
// may be secrets.
std::string what_it_starts(const HostEntry& entry) {
  auto words = command_of_entry(entry.value);
  for (auto& word : words) word = plain_or_shell_word(word);
  std::string text = fmt::format("{}", fmt::join(words, " "));
  if (words.empty()) text = "no command";
  const auto& nested = object_member(entry.value, "command");
  Texts names;
  for (const auto& [name, value] :
       object_member(nested.empty() ? entry.value : nested, "env").items())
    names.push_back(name);
  if (names.empty()) return text;
  return text + fmt::format(" (with the variables {})", fmt::join(names, ", "));
}

Result<FilePlan> plan_restoration(const OwnServers&, const std::string& file) {
  FilePlan plan{.file = file, .before = CELLBLOCK_TRY(own_file(file))};
  const auto older = CELLBLOCK_TRY(read_backup(file));
  auto after = restored_text(plan.before, older);
  if (!after) return fail(fmt::format("{}: {}", safe_line(file), after.error().text));
  plan.after = *std::move(after);
  const auto entries = CELLBLOCK_TRY(restored_entries(plan.before, older));
  for (const auto& entry : entries) {
    const auto place = path_text(entry.path);
    plan.lines.push_back(
        safe_line(fmt::format("{}: becomes again: {}", place, what_it_starts(entry))));
    plan.changed[place] = true;
  }
  if (plan.is_changed()) return plan;
  plan.lines.push_back("no entry is to be given back: the old text that was kept is removed");
  return plan;
}

Result<void> carry_out_restoration(const FilePlan& plan) {
  CELLBLOCK_CHECK(replace_own_file(plan.file, plan.before, plan.after));
  return remove_backup(plan.file);
}

Result<void> leave_unchanged(const FilePlan&) { return {}; }

// Of no use any more, and it may hold secrets.
Result<void> forget_backup(const FilePlan& plan) { return remove_backup(plan.file); }

// ---- all of them ----

struct Deed {
  Result<FilePlan> (*plan)(const OwnServers&, const std::string& file);
  Result<void> (*carry_out)(const FilePlan& plan);
  Result<void> (*when_unchanged)(const FilePlan& plan);
};

struct Tally {
  Json files = Json::array();
  bool is_whole = true;
};

void note_failure(const std::string& why, Tally& tally) {
  fmt::print(stderr, "cellblock: {}\n", why);
  tally.is_whole = false;
}

bool is_wanted(const HostChange& change, const FilePlan& plan, const Interruption& interruption) {
  return change.agrees || agrees(interruption, fmt::format("Change {}?", safe_line(plan.file)));
}

void treat(const Context& context, const HostChange& change, const Deed& deed, const FilePlan& plan,
           Tally& tally) {
  const Interruption interruption;
  tell(context, safe_line(plan.file));
  for (const auto& line : plan.lines) tell(context, "  " + line);
  if (plan.is_changed() && !is_wanted(change, plan, interruption)) return;
  const auto done = plan.is_changed() ? deed.carry_out(plan) : deed.when_unchanged(plan);
  if (!done) return note_failure(done.error().text, tally);
  if (!plan.is_changed()) return;
  tally.files.push_back(Json{{"file", plan.file}, {"changed", plan.changed}});
  tell(context, fmt::format("{} was changed", safe_line(plan.file)));
}

Exit treat_all(const Context& context, const HostChange& change, const Deed& deed,
               const Texts& files) {
  if (!change.agrees && !can_ask(context)) return cannot(context, nobody_to_ask);
  const OwnServers servers = own_servers(context);
  Tally tally;
  for (const auto& file : files) {
    const auto plan = deed.plan(servers, file);
    plan ? treat(context, change, deed, *plan, tally) : note_failure(plan.error().text, tally);
  }
  if (context.output == Output::json) print_json(dumped(Json{{"files", tally.files}}));
  return tally.is_whole ? Exit::ok : Exit::error;
}

}  // namespace

Exit connect_hosts(const Context& context, const HostChange& change) {
  const auto files = files_of(change, is_there);
  if (files.empty())
    return cannot(context, "no configuration of a known host is here: name its FILE");
  return treat_all(context, change, {plan_connection, carry_out_connection, leave_unchanged},
                   files);
}

Exit restore_hosts(const Context& context, const HostChange& change) {
  const auto files = files_of(change, has_backup);
  if (files.empty())
    return cannot(context, "no host's configuration was changed by cellblock here");
  return treat_all(context, change, {plan_restoration, carry_out_restoration, forget_backup},
                   files);
}

}  // namespace cellblock::cli
