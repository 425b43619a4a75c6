#include "client/cli/audit/event_kind.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>

namespace cellblock::cli {
namespace {

using enum OcsfClass;

constexpr std::array<EventKind, 18> event_kinds{{
    {"log_opened", "process", "start", application_lifecycle, 3},
    {"log_closed", "process", "end", application_lifecycle, 4},
    {"session_opened", "session", "start", authentication, 1},
    {"session_closed", "session", "end", authentication, 2},
    {"attach", "api", "access", api_activity, ocsf_other},
    {"label", "session", "info", api_activity, ocsf_other},
    {"call", "api", "access", api_activity, ocsf_other},
    {"call_ended", "api", "end", api_activity, ocsf_other},
    {"refused", "api", "access", api_activity, ocsf_other},
    {"denied", "intrusion_detection", "info", kernel_activity, 4},
    {"cell_started", "process", "start", process_activity, 1},
    {"cell_ended", "process", "end", process_activity, 2},
    {"egress", "network", "connection", network_activity, 6},
    {"pin", "configuration", "change", api_activity, 3},
    {"approval", "api", "admin", api_activity, ocsf_other},
    {"switched", "configuration", "change", api_activity, 3},
    {"flow", "intrusion_detection", "info", detection_finding, 1},
    {"finding", "intrusion_detection", "info", detection_finding, 1},
}};
constexpr EventKind unknown_kind{"", "api", "info", api_activity, ocsf_other};

}  // namespace

const EventKind& event_kind(std::string_view kind) {
  const auto* const found = std::ranges::find(event_kinds, kind, &EventKind::kind);
  return found == event_kinds.end() ? unknown_kind : *found;
}

std::string event_text(const nlohmann::json& line, const char* key) {
  const auto found = line.find(key);
  return found != line.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::uint64_t event_number(const nlohmann::json& line, const char* key) {
  const auto found = line.find(key);
  return found != line.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

// "2026-11-22T13:05:07.123Z"
std::int64_t event_time(const nlohmann::json& line) {
  const std::string time = event_text(line, "time");
  std::tm utc{};
  const char* rest = ::strptime(time.c_str(), "%Y-%m-%dT%H:%M:%S", &utc);
  if (rest == nullptr) return 0;
  int milliseconds = 0;
  if (*rest == '.') std::from_chars(rest + 1, time.c_str() + time.size(), milliseconds);
  return ::timegm(&utc) * std::int64_t{1000} + milliseconds;
}

std::optional<bool> event_allowed(const nlohmann::json& line) {
  const std::string outcome = event_text(line, "outcome");
  const std::string kind = event_text(line, "kind");
  if (outcome == "denied" || kind == "refused" || kind == "denied") return false;
  if (outcome == "ok" || kind == "call") return true;
  return std::nullopt;
}

EventTarget event_target(const nlohmann::json& line) {
  const std::string target = event_text(line, "tool");
  const auto colon = target.rfind(':');
  if (colon == std::string::npos) return {target, std::nullopt};
  std::uint16_t port = 0;
  const char* const end = target.data() + target.size();
  const auto [rest, error] = std::from_chars(target.data() + colon + 1, end, port);
  if (error != std::errc() || rest != end) return {target, std::nullopt};
  std::string host = target.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return {std::move(host), port};
}

// "00-" TRACE "-" SPAN "-" FLAGS, of 32 and 16 characters: the log has sound ones only.
EventTrace event_trace(const nlohmann::json& line) {
  const std::string parent = event_text(line, "traceparent");
  constexpr std::size_t whole = 55;
  if (parent.size() < whole) return {};
  return {parent.substr(3, 32), parent.substr(36, 16)};
}

}  // namespace cellblock::cli
