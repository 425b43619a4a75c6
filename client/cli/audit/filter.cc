#include "client/cli/audit/filter.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>

namespace cellblock::cli {
namespace {

using nlohmann::json;

std::string text_of(const json& line, const char* key) {
  const auto found = line.find(key);
  return found != line.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<std::uint64_t> number_of(const json& line, const char* key) {
  const auto found = line.find(key);
  if (found == line.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<std::uint64_t>();
}

bool is(const std::string& wanted, const std::string& found) {
  return wanted.empty() || wanted == found;
}

struct Unit {
  std::string_view name;
  std::int64_t seconds;
};
constexpr std::array<Unit, 5> units{{{"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}, {"d", 86'400}}};

std::optional<std::int64_t> seconds_ago(std::string_view text) {
  std::int64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0 || number > 1'000'000) return std::nullopt;
  const std::string_view name = text.substr(static_cast<std::size_t>(rest - text.data()));
  const auto* const unit = std::ranges::find(units, name, &Unit::name);
  if (unit == units.end()) return std::nullopt;
  return number * unit->seconds;
}

bool is_moment(std::string_view text) {
  constexpr std::string_view shape = "0000-00-00T00:00:00.000";
  if (text.size() < 10 || text.size() > shape.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (shape[i] == '0' ? !digit : text[i] != shape[i]) return false;
  }
  return true;
}

}  // namespace

bool AuditQuestion::is_all() const {
  return !uid && !session && server.empty() && tool.empty() && kind.empty() && outcome.empty() &&
         label.empty() && since.empty() && until.empty();
}

Result<std::string> moment_prefix(const std::string& text, std::int64_t now_seconds) {
  if (text.empty()) return text;
  if (const auto ago = seconds_ago(text)) {
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}", fmt::gmtime(std::time_t{now_seconds - *ago}));
  }
  if (text == "today" || text == "yesterday") {
    constexpr std::int64_t day = 86'400;
    const auto then = now_seconds - (text == "today" ? 0 : day);
    return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time_t{then}));
  }
  std::string moment = text;
  if (moment.ends_with('Z')) moment.pop_back();
  if (is_moment(moment)) return moment;
  return fail(
      fmt::format("\"{}\" is no time; a time is 2026-11-22, 2026-11-22T13:05:00Z, today or "
                  "yesterday (in UTC), or how long ago: 90s, 30m, 2h, 7d",
                  text));
}

bool AuditFilter::wants(const json& line) {
  if (!line.is_object()) return false;
  const bool labelled = question_.label.empty() || has_label(line);
  const std::string time = text_of(line, "time");
  const auto& [since, until] = std::tie(question_.since, question_.until);
  if (!labelled || time.substr(0, since.size()) < since) return false;
  if (!until.empty() && time.substr(0, until.size()) > until) return false;
  if (question_.uid && number_of(line, "uid") != *question_.uid) return false;
  if (question_.session && number_of(line, "session") != *question_.session) return false;
  return is(question_.server, text_of(line, "server")) &&
         is(question_.tool, text_of(line, "tool")) && is(question_.kind, text_of(line, "kind")) &&
         is(question_.outcome, text_of(line, "outcome"));
}

// Sessions are numbered by each gateway anew.
bool AuditFilter::has_label(const json& line) {
  const std::pair whose(text_of(line, "gateway"), number_of(line, "session").value_or(0));
  if (text_of(line, "kind") == "label" &&
      text_of(line, "reason") + "=" + text_of(line, "tool") == question_.label) {
    if (labelled_.size() < most_sessions) labelled_.insert(whose);
    return true;
  }
  return labelled_.contains(whose);
}

}  // namespace cellblock::cli
