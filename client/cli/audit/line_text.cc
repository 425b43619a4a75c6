#include "client/cli/audit/line_text.h"

#include <fmt/format.h>
#include <pwd.h>

#include <algorithm>
#include <cstdint>

#include "client/cli/terminal/terminal_text.h"
#include "client/cli/terminal/time_text.h"

namespace cellblock::cli {
namespace {

using nlohmann::json;

std::string text_in(const json& line, const char* key) {
  const auto found = line.find(key);
  return found != line.end() && found->is_string() ? safe_line(found->get<std::string>())
                                                   : std::string();
}

std::uint64_t number_in(const json& line, const char* key) {
  const auto found = line.find(key);
  return found != line.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

// "2026-11-22T13:55:02.123Z" to "2026-11-22 13:55:02": UTC, as the log has it.
std::string time_of(const json& line) {
  std::string time = text_in(line, "time").substr(0, 19);
  std::ranges::replace(time, 'T', ' ');
  return time;
}

std::string user_of(const json& line) {
  if (!line.contains("uid")) return "-";
  const auto uid = static_cast<uid_t>(number_in(line, "uid"));
  const passwd* user = ::getpwuid(uid);  // NOLINT(concurrency-mt-unsafe): one thread
  return user == nullptr ? std::to_string(uid) : safe_line(user->pw_name);
}

std::string event_of(const json& line) {
  std::string event = text_in(line, "kind");
  std::ranges::replace(event, '_', ' ');
  const std::string outcome = text_in(line, "outcome");
  const bool is_news = outcome != "none" && outcome != "ok" && outcome != event;
  if (!outcome.empty() && is_news) event += " " + outcome;
  return event;
}

std::string subject_of(const json& line) {
  std::string subject;
  for (const char* key : {"server", "method", "tool"}) {
    const std::string text = text_in(line, key);
    if (!text.empty()) subject += (subject.empty() ? "" : " ") + text;
  }
  return subject;
}

std::string details_of(const json& line) {
  std::string details;
  if (const auto reason = text_in(line, "reason"); !reason.empty()) details += "  " + reason;
  for (const char* key : {"text", "arguments"}) {
    if (const auto text = text_in(line, key); !text.empty()) details += "  " + text;
  }
  if (text_in(line, "kind") == "call_ended") {
    const auto took = std::chrono::milliseconds(number_in(line, "us") / 1000);
    details += fmt::format("  {}, {} bytes", duration_text(took), number_in(line, "bytes"));
  }
  if (number_in(line, "count") > 1)
    details += fmt::format("  ({} times)", number_in(line, "count"));
  if (const auto torn = number_in(line, "torn_bytes"); torn > 0) {
    details += fmt::format("  after {} torn bytes", torn);
  }
  return details;
}

Colour colour_of(const json& line) {
  const std::string outcome = text_in(line, "outcome");
  if (outcome == "denied") return Colour::weak;
  return outcome == "error" ? Colour::bad : Colour::plain;
}

}  // namespace

std::string audit_line_text(const json& line, const Style& style, std::size_t columns) {
  const std::string text = fmt::format("{}  {:<8}  {:<16}  {}{}", time_of(line), user_of(line),
                                       event_of(line), subject_of(line), details_of(line));
  return style.paint(colour_of(line), cut_to(text, columns));
}

}  // namespace cellblock::cli
