#include "client/cli/doctor/machine_findings.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "client/cli/common/daemon_program.h"
#include "client/cli/install/program_output.h"
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

}  // namespace cellblock::cli
