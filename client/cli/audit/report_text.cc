#include "client/cli/audit/report_text.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
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

}  // namespace

std::string report_text(const LogReport& report, const Style& style) {
  std::string text;
  for (const Finding& finding : report.findings) {
    const auto colour = finding.grade == Grade::interrupted ? Colour::weak : Colour::bad;
    text += fmt::format("{}:{}\n  {}: {}\n", safe_line(finding.file), finding.line,
                        style.paint(colour, word_of(finding.grade)), safe_line(finding.what));
  }
  if (report.more_findings > 0) text += fmt::format("and {} more\n", report.more_findings);
  text += fmt::format("{}: {} lines in {} file{}", verdict(report, style), report.lines,
                      report.files, report.files == 1 ? "" : "s");
  if (report.lines == 0) return text + "\n";
  return text + fmt::format(", seq {} to {}\nanchor:\n{}\n", report.first, report.last.sequence,
                            anchor_text(report.last));
}

std::string report_json(const LogReport& report) {
  using Json = nlohmann::ordered_json;
  Json findings = Json::array();
  for (const Finding& finding : report.findings) {
    findings.push_back({{"grade", word_of(finding.grade)},
                        {"file", finding.file},
                        {"line", finding.line},
                        {"what", finding.what}});
  }
  const Json json{{"ok", report.broken == 0 && report.lost == 0},
                  {"broken", report.broken},
                  {"lost", report.lost},
                  {"files", report.files},
                  {"lines", report.lines},
                  {"first", report.first},
                  {"last", report.last.sequence},
                  {"anchor", anchor_text(report.last)},
                  {"findings", findings},
                  {"more_findings", report.more_findings}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string anchor_text(const audit::ChainPoint& point) {
  return fmt::format("{}:{}", point.sequence, audit::hex_of(point.hash));
}

Result<audit::ChainPoint> read_anchor(const std::string& text) {
  audit::ChainPoint point;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, point.sequence);
  if (error == std::errc() && rest != end && *rest == ':') {
    const auto hash = audit::digest_of_hex(
        std::string_view(text).substr(static_cast<std::size_t>(rest - text.data()) + 1));
    if (hash) {
      point.hash = *hash;
      return point;
    }
  }
  return fail("an anchor is what an earlier \"cellblock audit verify\" printed: SEQ:HASH");
}

}  // namespace cellblock::cli
