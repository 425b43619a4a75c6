#include "client/cli/audit/line_text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <pwd.h>

#include <algorithm>
#include <cstdint>
#include <ctime>

#include "client/cli/terminal/terminal_text.h"
#include "client/cli/terminal/unit_text.h"
#include "policy/audit/anchor.h"

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

// "2026-11-22T13:55:02" of UTC, in this machine's zone; what is no time stays as it is.
std::string in_local_time(const std::string& time) {
  std::tm utc{};
  const char* end = ::strptime(time.c_str(), "%Y-%m-%dT%H:%M:%S", &utc);
  if (end == nullptr || *end != '\0') return time;
  const std::time_t moment = ::timegm(&utc);
  std::tm here{};
  if (::localtime_r(&moment, &here) == nullptr) return time;
  return fmt::format("{:%Y-%m-%dT%H:%M:%S%z}", here);
}

// "2026-11-22T13:55:02.123Z" to "2026-11-22 13:55:02": UTC, as the log has it.
std::string time_of(const json& line, ShownTime shown) {
  std::string time = text_in(line, "time").substr(0, 19);
  if (shown == ShownTime::local) time = in_local_time(time);
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

std::string audit_line_text(const json& line, const Style& style, std::size_t columns,
                            ShownTime shown) {
  const std::string text =
      fmt::format("{}  {:<8}  {:<16}  {}{}", time_of(line, shown), user_of(line), event_of(line),
                  subject_of(line), details_of(line));
  return style.paint(colour_of(line), cut_to(text, columns));
}

namespace {

using audit::Finding;
using audit::Grade;
using audit::LogReport;

std::string_view word_of(Grade grade) {
  switch (grade) {
    case Grade::broken:
      return "broken";
    case Grade::lost:
      return "lost";
    case Grade::interrupted:
      break;
  }
  return "interrupted";
}

std::string verdict(const LogReport& report, const Style& style) {
  if (report.broken > 0) return style.paint(Colour::bad, "BROKEN");
  if (report.lost > 0) return style.paint(Colour::bad, "RECORDS LOST");
  return style.paint(Colour::good, "whole");
}

std::string anchors_text(const AnchorReport& anchors) {
  return fmt::format("{} anchor{} signed by key {}", anchors.good, anchors.good == 1 ? "" : "s",
                     anchors.key);
}

std::string text_without_log(const LogReport& report, const AnchorReport& anchors,
                             const Style& style) {
  std::string text = fmt::format("{}: {}", verdict(report, style), anchors_text(anchors));
  if (anchors.good > 0) {
    text += fmt::format(", the last at {}\nanchor:\n{}", anchors.last_time,
                        audit::anchor_text(report.last));
  }
  return text + "\nno log was compared with them: --log PATH names one\n";
}

std::string text_of_log(const LogReport& report, const Style& style) {
  std::string text = fmt::format("{}: {} lines in {} file{}", verdict(report, style), report.lines,
                                 report.files, report.files == 1 ? "" : "s");
  if (report.lines == 0) return text + "\n";
  return text + fmt::format(", seq {} to {}\nanchor:\n{}\n", report.first, report.last.sequence,
                            audit::anchor_text(report.last));
}

std::string findings_text(const LogReport& report, const Style& style) {
  std::string text;
  for (const Finding& finding : report.findings) {
    const auto colour = finding.grade == Grade::interrupted ? Colour::weak : Colour::bad;
    text += fmt::format("{}:{}\n  {}: {}\n", safe_line(finding.file), finding.line,
                        style.paint(colour, word_of(finding.grade)), safe_line(finding.what));
  }
  if (report.more_findings > 0) text += fmt::format("and {} more\n", report.more_findings);
  return text;
}

}  // namespace

std::string report_text(const LogReport& report, const AnchorReport& anchors, const Style& style) {
  if (!anchors.has_log) {
    return findings_text(report, style) + text_without_log(report, anchors, style);
  }
  const bool is_untold = report.lines == 0 && report.findings.empty();
  if (is_untold) {
    return fmt::format("{}: the log holds no record, so nothing is shown to be whole\n",
                       style.paint(Colour::weak, "empty"));
  }
  std::string text = findings_text(report, style) + text_of_log(report, style);
  if (!anchors.fresh.empty()) return text + fmt::format("signed anchor:\n{}\n", anchors.fresh);
  if (!anchors.key.empty()) text += anchors_text(anchors) + "\n";
  return text;
}

std::string report_json(const LogReport& report, const AnchorReport& anchors) {
  using Json = nlohmann::ordered_json;
  Json findings = Json::array();
  for (const Finding& finding : report.findings) {
    findings.push_back({{"grade", word_of(finding.grade)},
                        {"file", finding.file},
                        {"line", finding.line},
                        {"what", finding.what}});
  }
  Json json{{"ok", report.broken == 0 && report.lost == 0},
            {"broken", report.broken},
            {"lost", report.lost},
            {"files", report.files},
            {"lines", report.lines},
            {"first", report.first},
            {"last", report.last.sequence},
            {"anchor", audit::anchor_text(report.last)},
            {"findings", findings},
            {"more_findings", report.more_findings}};
  if (!anchors.key.empty()) {
    json["key"] = anchors.key;
    json["signed_anchors"] = anchors.good;
    json["log_compared"] = anchors.has_log;
  }
  if (!anchors.fresh.empty()) json["signed_anchor"] = anchors.fresh;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace cellblock::cli
