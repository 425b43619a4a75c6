#include "supervisor/loader/reload/reload_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace cellblock::daemon {
namespace {

using Json = nlohmann::ordered_json;

std::string_view effect_of(const ChangedServer& server) {
  if (server.is_broken && server.what != ServerChange::broken) return "it is left out";
  switch (server.what) {
    case ServerChange::policy:
      return "from the next request on";
    case ServerChange::cell:
      return "its cells are replaced when their calls have finished";
    case ServerChange::added:
    case ServerChange::returned:
      return "can be used";
    case ServerChange::removed:
      return "its sessions are ended";
    case ServerChange::broken:
      return "it is left out, and its sessions are ended";
    case ServerChange::mended:
      return "can be used";
  }
  return "";
}

std::string_view name_of(ServerChange change) {
  switch (change) {
    case ServerChange::policy:
      return "policy";
    case ServerChange::cell:
      return "cell";
    case ServerChange::added:
      return "added";
    case ServerChange::returned:
      return "returned";
    case ServerChange::removed:
      return "removed";
    case ServerChange::broken:
      return "broken";
    case ServerChange::mended:
      return "mended";
  }
  return "";
}

std::string_view or_none(const std::string& value) {
  return value.empty() ? std::string_view("none") : value;
}

// The changed values of that key, or of the keys below a table, whose path ends with a dot.
std::string value_lines(const std::vector<ChangedKey>& values, std::string_view path) {
  std::string text;
  for (const ChangedKey& value : values) {
    const bool is_below = path.ends_with('.') && value.path.starts_with(path);
    if (!is_below && value.path != path) continue;
    std::string_view key = value.path;
    if (path.ends_with('.')) key.remove_prefix(path.size());
    text += fmt::format("    {}: {} -> {}\n", key, or_none(value.from), or_none(value.to));
  }
  return text;
}

std::string broken_lines(const std::vector<PartLeftOut>& broken) {
  std::string text;
  for (const PartLeftOut& part : broken) {
    text += fmt::format("broken: {}: {}\n", part.name, part.cause);
  }
  return text;
}

std::string left_lines(const Difference& difference) {
  std::string text;
  for (const std::string& key : difference.left) {
    text += fmt::format("left for a restart: {}\n", key);
  }
  return text;
}

Json broken_json(const std::vector<PartLeftOut>& broken) {
  Json listed = Json::array();
  for (const PartLeftOut& part : broken) {
    listed.push_back(Json{{"what", part.name}, {"cause", part.cause}});
  }
  return listed;
}

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string reload_text(const Difference& difference, const std::vector<ChangedKey>& values,
                        const std::vector<PartLeftOut>& broken, ReloadTense tense) {
  const std::string ends = left_lines(difference) + broken_lines(broken);
  if (difference.empty()) return "nothing has changed\n" + ends;
  std::string text = tense == ReloadTense::done ? "reloaded\n" : "would change\n";
  for (const std::string& key : difference.keys) {
    text += fmt::format("  {}: at once\n", key);
    text += value_lines(values, key) + value_lines(values, key + ".");
  }
  for (const ChangedServer& server : difference.servers) {
    text += fmt::format("  {}: {}\n", line_of(server), effect_of(server));
    text += value_lines(values, fmt::format("server.{}.", server.name));
  }
  return text + ends;
}

std::string reload_json(const Difference& difference, const std::vector<ChangedKey>& values,
                        const std::vector<PartLeftOut>& broken, ReloadTense tense) {
  Json changes = Json::array();
  for (const std::string& key : difference.keys) changes.push_back(Json{{"key", key}});
  for (const ChangedServer& server : difference.servers) {
    changes.push_back(Json{
        {"server", server.name}, {"change", name_of(server.what)}, {"keys", Json(server.keys)}});
  }
  Json listed = Json::array();
  for (const ChangedKey& value : values) {
    listed.push_back(Json{{"key", value.path}, {"from", value.from}, {"to", value.to}});
  }
  return dumped(Json{{"ok", true},
                     {"applied", tense == ReloadTense::done},
                     {"changes", std::move(changes)},
                     {"values", std::move(listed)},
                     {"left", Json(difference.left)},
                     {"broken", broken_json(broken)}});
}

std::string reload_error_json(std::string_view why) {
  const Json error{{"code", "not_reloaded"}, {"message", why}, {"exit_code", 1}};
  return dumped(Json{{"ok", false}, {"error", error}});
}

}  // namespace cellblock::daemon
