#include "client/cli/audit/filter.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
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

bool looks_like_moment(std::string_view text) {
  constexpr std::string_view shape = "0000-00-00T00:00:00.000";
  if (text.size() < 10 || text.size() > shape.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (shape[i] == '0' ? !digit : text[i] != shape[i]) return false;
  }
  return true;
}

int part(std::string_view text, std::size_t at, std::size_t size) {
  int number = 0;
  const std::string_view digits = text.substr(at, size);
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

// Of a text that looks like one.
bool is_in_calendar(std::string_view text) {
  using namespace std::chrono;
  constexpr std::size_t hour_at = 11;
  constexpr std::size_t minute_at = 14;
  constexpr std::size_t second_at = 17;
  const year_month_day day(year(part(text, 0, 4)), month(static_cast<unsigned>(part(text, 5, 2))),
                           std::chrono::day(static_cast<unsigned>(part(text, 8, 2))));
  const auto at = [text](std::size_t place) {
    return place < text.size() ? part(text, place, 2) : 0;
  };
  return day.ok() && at(hour_at) <= 23 && at(minute_at) <= 59 && at(second_at) <= 60;
}

bool is_moment(std::string_view text) { return looks_like_moment(text) && is_in_calendar(text); }

// Searched for, it would find every line or none.
std::string_view calendar_fault(std::string_view text) {
  if (text.ends_with('Z')) text.remove_suffix(1);
  return looks_like_moment(text) && !is_in_calendar(text)
             ? ": the calendar has no such day, hour, minute or second"
             : "";
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
      fmt::format("\"{}\" is no time{}; a time is 2026-11-22, 2026-11-22T13:05:00Z, today or "
                  "yesterday (in UTC), or how long ago: 90s, 30m, 2h, 7d",
                  text, calendar_fault(text)));
}

namespace {

/// Of a moment's text: how many of its parts are written.
enum class Precision : std::uint8_t { day, hour, minute, second };

struct LocalMoment {
  std::tm time{};
  Precision precision{};
};

std::optional<LocalMoment> read_local(std::string_view text) {
  constexpr std::array<std::size_t, 4> sizes{10, 13, 16, 19};
  const auto* const size = std::ranges::find(sizes, text.size());
  if (size == sizes.end() || !is_moment(text)) return std::nullopt;
  LocalMoment moment{.precision = static_cast<Precision>(size - sizes.begin())};
  moment.time.tm_year = part(text, 0, 4) - 1900;
  moment.time.tm_mon = part(text, 5, 2) - 1;
  moment.time.tm_mday = part(text, 8, 2);
  if (moment.precision >= Precision::hour) moment.time.tm_hour = part(text, 11, 2);
  if (moment.precision >= Precision::minute) moment.time.tm_min = part(text, 14, 2);
  if (moment.precision >= Precision::second) moment.time.tm_sec = part(text, 17, 2);
  moment.time.tm_isdst = -1;
  return moment;
}

void add_one(LocalMoment& moment) {
  switch (moment.precision) {
    case Precision::day:
      ++moment.time.tm_mday;
      return;
    case Precision::hour:
      ++moment.time.tm_hour;
      return;
    case Precision::minute:
      ++moment.time.tm_min;
      return;
    case Precision::second:
      ++moment.time.tm_sec;
      return;
  }
}

LocalMoment day_of(std::int64_t seconds, int days_before) {
  const std::time_t then = seconds;
  LocalMoment moment;
  static_cast<void>(::localtime_r(&then, &moment.time));
  moment.time.tm_hour = moment.time.tm_min = moment.time.tm_sec = 0;
  moment.time.tm_mday -= days_before;
  moment.time.tm_isdst = -1;
  return moment;
}

}  // namespace

Result<std::string> local_moment(const std::string& text, std::int64_t now_seconds,
                                 MomentEdge edge) {
  if (text.empty() || text.ends_with('Z') || seconds_ago(text)) {
    return moment_prefix(text, now_seconds);
  }
  const bool is_day = text == "today" || text == "yesterday";
  auto moment =
      is_day ? std::optional(day_of(now_seconds, text == "today" ? 0 : 1)) : read_local(text);
  if (!moment) {
    return fail(
        fmt::format("\"{}\" is no local time{}; one is 2026-11-22, 2026-11-22T13, "
                    "2026-11-22T13:05 or 2026-11-22T13:05:00, today or yesterday; with a Z "
                    "at its end it is UTC",
                    text, calendar_fault(text)));
  }
  if (edge == MomentEdge::end) add_one(*moment);
  const std::time_t utc = ::mktime(&moment->time) - (edge == MomentEdge::end ? 1 : 0);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}", fmt::gmtime(utc));
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
