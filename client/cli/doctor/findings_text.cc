#include "client/cli/doctor/findings_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "client/cli/install/program_output.h"
#include "client/cli/programs/daemon_program.h"
#include "client/cli/terminal/json_text.h"
#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

template <class Word, std::size_t count>
std::optional<Word> word_named(const std::array<Word, count>& words, const std::string& name) {
  for (const Word word : words) {
    if (name_of(word) == name) return word;
  }
  return std::nullopt;
}

Result<DoctorFinding> read_finding(const Json& json) {
  constexpr std::array grades = {Grade::ok, Grade::weaker, Grade::missing, Grade::untried};
  constexpr std::array needs = {NeededFor::cells, NeededFor::daemon, NeededFor::some};
  const auto grade = word_named(grades, text_of(json, "result"));
  const auto need = word_named(needs, text_of(json, "needed_for"));
  if (!grade || !need) return fail("a finding of cellblockd's could not be read");
  return DoctorFinding{.check = text_of(json, "check"),
                       .grade = *grade,
                       .need = *need,
                       .says = text_of(json, "says"),
                       .remedy = texts_of(json, "remedy")};
}

DoctorFinding no_program(const std::string& why) {
  return {.check = "cellblockd",
          .grade = Grade::missing,
          .need = NeededFor::cells,
          .says = why,
          .remedy = {"install cellblock's packages, of the same version as this command"}};
}

}  // namespace

Result<std::vector<DoctorFinding>> read_findings(const std::string& json) {
  std::vector<DoctorFinding> findings;
  const auto document = Json::parse(json, nullptr, false);
  for (const Json& one : objects_of(document, "findings")) {
    findings.push_back(CELLBLOCK_TRY(read_finding(one)));
  }
  if (findings.empty()) return fail("cellblockd does not know --doctor: is it an older one?");
  return findings;
}

std::vector<DoctorFinding> findings_of_machine(const Context& context) {
  auto words = daemon_words(context, {});
  words.emplace_back("--doctor");
  const auto output = output_of(words, Errors::passed_on);
  if (!output) return {no_program(output.error().text)};
  auto findings = read_findings(output->text);
  if (!findings) return {no_program(fmt::format("{}: {}", words.front(), findings.error().text))};
  return *std::move(findings);
}

namespace {

constexpr std::size_t grade_columns = 9;
constexpr std::size_t check_columns = 18;
constexpr std::size_t indentation = grade_columns + check_columns;

Colour colour_of(Grade grade) {
  constexpr std::array colours = {Colour::good, Colour::weak, Colour::bad, Colour::weak};
  return colours.at(static_cast<std::size_t>(grade));
}

std::string padded(std::string_view text, std::size_t columns) {
  return fmt::format("{:<{}}", text, columns);
}

// A command stays on one line, to be copied.
std::string finding_text(const DoctorFinding& finding, Style style, std::size_t width) {
  const auto grade = padded(name_of(finding.grade), grade_columns);
  auto line = padded(safe_line(finding.check), check_columns) + safe_line(finding.says);
  const auto narrow = width > grade_columns ? width - grade_columns : 0;
  auto text =
      style.paint(colour_of(finding.grade), grade) + wrapped(line, narrow, indentation) + "\n";
  for (const auto& remedy : finding.remedy) {
    text += fmt::format("{:{}}{}\n", "", indentation, safe_line(remedy));
  }
  return text;
}

std::string checks_with(const std::vector<DoctorFinding>& findings, Grade grade, NeededFor need) {
  std::string names;
  for (const auto& finding : findings) {
    if (finding.grade != grade || (grade == Grade::missing && finding.need != need)) continue;
    names += (names.empty() ? "" : ", ") + finding.check;
  }
  return names;
}

constexpr std::string_view no_cell_tried = "no cell was tried (that needs root)";

std::string untried_text(const std::vector<DoctorFinding>& findings) {
  const auto weaker = checks_with(findings, Grade::weaker, NeededFor::some);
  if (weaker.empty()) return fmt::format("{}; nothing was found against one", no_cell_tried);
  return fmt::format("{}; one would be weaker in: {}", no_cell_tried, weaker);
}

std::string no_daemon_text(const std::vector<DoctorFinding>& findings) {
  const auto untried = std::ranges::find(findings, Grade::untried, &DoctorFinding::grade);
  const auto first = checks_with(findings, Grade::missing, NeededFor::daemon);
  if (untried == findings.end()) return fmt::format("servers could run here; first: {}", first);
  return fmt::format("no server can be used yet; first: {}; {}", first, no_cell_tried);
}

std::string outlook_text(const std::vector<DoctorFinding>& findings) {
  switch (outlook_of(findings)) {
    case Outlook::full:
      return "servers can run in full cells here";
    case Outlook::weaker:
      return fmt::format("servers can run here, weaker in: {}",
                         checks_with(findings, Grade::weaker, NeededFor::some));
    case Outlook::no_daemon:
      return no_daemon_text(findings);
    case Outlook::untried:
      return untried_text(findings);
    case Outlook::none:
      break;
  }
  return fmt::format("no server can run here for lack of: {}",
                     checks_with(findings, Grade::missing, NeededFor::cells));
}

}  // namespace

std::string findings_text(const std::vector<DoctorFinding>& findings, Style style,
                          std::size_t width) {
  std::string text;
  for (const auto& finding : findings) text += finding_text(finding, style, width);
  return text + "\n" + outlook_text(findings) + "\n";
}

std::string findings_json(const std::vector<DoctorFinding>& findings, int exit_code) {
  Json list = Json::array();
  for (const auto& finding : findings) {
    list.push_back(Json{{"check", finding.check},
                        {"result", name_of(finding.grade)},
                        {"needed_for", name_of(finding.need)},
                        {"says", finding.says},
                        {"remedy", finding.remedy}});
  }
  return dumped(Json{{"outlook", name_of(outlook_of(findings))},
                     {"exit_code", exit_code},
                     {"findings", std::move(list)}});
}

}  // namespace cellblock::cli
