#include "supervisor/daemon/start/reload_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace cellblock::daemon {
namespace {

using Json = nlohmann::ordered_json;

std::string_view effect_of(ServerChange change) {
  switch (change) {
    case ServerChange::policy:
      return "from the next request on";
    case ServerChange::cell:
      return "its cells are replaced when their calls have finished";
    case ServerChange::added:
    case ServerChange::returned:
      return "can be used";
    case ServerChange::removed:
      return "its sessions are ended";
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
  }
  return "";
}

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string reload_text(const Difference& difference, ReloadTense tense) {
  if (difference.empty()) return "nothing has changed\n";
  std::string text = tense == ReloadTense::done ? "reloaded\n" : "would change\n";
  for (const std::string& key : difference.keys) text += fmt::format("  {}: at once\n", key);
  for (const ChangedServer& server : difference.servers) {
    text += fmt::format("  {}: {}\n", line_of(server), effect_of(server.what));
  }
  return text;
}

std::string reload_json(const Difference& difference, ReloadTense tense) {
  Json changes = Json::array();
  for (const std::string& key : difference.keys) changes.push_back(Json{{"key", key}});
  for (const ChangedServer& server : difference.servers) {
    changes.push_back(Json{
        {"server", server.name}, {"change", name_of(server.what)}, {"keys", Json(server.keys)}});
  }
  return dumped(
      Json{{"ok", true}, {"applied", tense == ReloadTense::done}, {"changes", std::move(changes)}});
}

std::string reload_error_json(std::string_view why) {
  const Json error{{"code", "not_reloaded"}, {"message", why}, {"exit_code", 1}};
  return dumped(Json{{"ok", false}, {"error", error}});
}

}  // namespace cellblock::daemon
