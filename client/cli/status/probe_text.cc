#include "client/cli/status/probe_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "client/cli/terminal/json_text.h"
#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

struct Attempt {
  std::string id, group, meaning, verdict, error, detail, declared_by;
};

struct Counts {
  std::string group;
  std::size_t held = 0;
  std::size_t declared = 0;
  std::size_t unexpected = 0;
  std::size_t not_applicable = 0;
};

std::vector<Attempt> attempts_of(const Json& content) {
  std::vector<Attempt> attempts;
  for (const auto& one : content["attempts"]) {
    if (!one.is_object()) continue;
    attempts.push_back({.id = text_of(one, "id"),
                        .group = text_of(one, "class"),
                        .meaning = text_of(one, "meaning"),
                        .verdict = text_of(one, "verdict"),
                        .error = text_of(one, "errno"),
                        .detail = text_of(one, "detail"),
                        .declared_by = text_of(one, "declared_by")});
  }
  return attempts;
}

// A verdict that is not known counts as the bad one.
void count(const Attempt& attempt, Counts& counts) {
  if (attempt.verdict == "held") {
    ++counts.held;
  } else if (attempt.verdict == "declared") {
    ++counts.declared;
  } else if (attempt.verdict == "not_applicable") {
    ++counts.not_applicable;
  } else {
    ++counts.unexpected;
  }
}

bool is_unexpected(const Attempt& attempt) {
  Counts one;
  count(attempt, one);
  return one.unexpected != 0;
}

// In the order in which the probe names them.
std::vector<Counts> by_class(const std::vector<Attempt>& attempts) {
  std::vector<Counts> classes;
  for (const Attempt& attempt : attempts) {
    auto found = std::ranges::find(classes, attempt.group, &Counts::group);
    if (found == classes.end()) found = classes.insert(found, Counts{.group = attempt.group});
    count(attempt, *found);
  }
  return classes;
}

std::string number(std::size_t count) { return count == 0 ? "-" : std::to_string(count); }

std::string row(const Counts& counts, std::size_t width, Style style) {
  const auto colour = counts.unexpected == 0 ? Colour::plain : Colour::bad;
  return fmt::format("{:<{}}  {:>5}  {:>8}  {}  {:>14}\n", counts.group, width, number(counts.held),
                     number(counts.declared),
                     style.paint(colour, fmt::format("{:>10}", number(counts.unexpected))),
                     number(counts.not_applicable));
}

std::string table(const std::vector<Counts>& classes, Style style) {
  std::size_t width = 5;
  Counts all{.group = "all"};
  for (const Counts& one : classes) {
    width = std::max(width, one.group.size());
    all.held += one.held;
    all.declared += one.declared;
    all.unexpected += one.unexpected;
    all.not_applicable += one.not_applicable;
  }
  std::string text =
      fmt::format("{:<{}}   HELD  DECLARED  UNEXPECTED  NOT APPLICABLE\n", "CLASS", width);
  for (const Counts& one : classes) text += row(one, width, style);
  return text + row(all, width, style);
}

std::string line_about(const Attempt& attempt, std::size_t columns, Style style, Colour colour) {
  std::string text = fmt::format("  {}\n", style.paint(colour, attempt.id));
  text += cut_to(fmt::format("    {}", attempt.meaning), columns) + "\n";
  if (!attempt.declared_by.empty()) {
    text += cut_to(fmt::format("    declared: {}", attempt.declared_by), columns) + "\n";
  }
  if (!attempt.detail.empty()) {
    text += cut_to(fmt::format("    seen: {}", attempt.detail), columns) + "\n";
  }
  return text;
}

template <class Wanted>
std::string section(const char* title, const std::vector<Attempt>& attempts, Wanted wanted,
                    std::size_t columns, Style style, Colour colour) {
  std::string text;
  for (const Attempt& attempt : attempts) {
    if (wanted(attempt)) text += line_about(attempt, columns, style, colour);
  }
  return text.empty() ? text : fmt::format("\n{}\n{}", title, text);
}

}  // namespace

ProbeReport probe_report(std::string_view result_json, Style style, std::size_t columns) {
  const auto result = Json::parse(result_json, nullptr, false);
  if (!result.is_object() || !result.contains("structuredContent")) return {};
  const Json& content = result["structuredContent"];
  if (!content.is_object() || !content.contains("attempts")) return {};
  if (!content["attempts"].is_array() || content["attempts"].empty()) return {};

  const auto attempts = attempts_of(content);
  ProbeReport report{.text = {}, .held = 0, .unexpected = 0, .readable = true};
  report.held = static_cast<std::size_t>(std::ranges::count(attempts, "held", &Attempt::verdict));
  report.unexpected = static_cast<std::size_t>(std::ranges::count_if(attempts, is_unexpected));
  report.text = cut_to("declared: " + text_of(content, "declared"), columns) + "\n\n";
  report.text += table(by_class(attempts), style);
  report.text += section(
      "Open, as declared:", attempts,
      [](const Attempt& attempt) { return attempt.verdict == "declared"; }, columns, style,
      Colour::weak);
  report.text += section("Open or unclear, though nothing declares it:", attempts, is_unexpected,
                         columns, style, Colour::bad);
  return report;
}

}  // namespace cellblock::cli
