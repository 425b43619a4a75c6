#include "supervisor/probe/report.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "supervisor/probe/attempts.h"
#include "supervisor/probe/expected.h"

namespace cellblock::probe {
namespace {

std::string_view name_of(OutcomeKind kind) {
  constexpr std::array<std::string_view, 4> names = {"unclear", "held", "open", "not_applicable"};
  return names.at(static_cast<std::size_t>(kind));
}

std::string_view name_of(Verdict verdict) {
  constexpr std::array<std::string_view, 4> names = {"held", "declared", "unexpected",
                                                     "not_applicable"};
  return names.at(static_cast<std::size_t>(verdict));
}

// A detail may name what was found, in bytes that somebody else chose.
std::string ascii(std::string_view text) {
  std::string safe;
  for (const char c : text) safe += c >= ' ' && c <= '~' ? c : '?';
  return safe;
}

std::string errno_of(const Tried& tried) {
  if (tried.outcome.error == 0) return {};
  const char* name = ::strerrorname_np(tried.outcome.error);
  return name != nullptr ? name : std::to_string(tried.outcome.error);
}

std::string declared_text(const Tried& tried, const std::optional<ProbeDeclaration>& declaration) {
  if (verdict_on(tried, declaration) != Verdict::declared) return {};
  return declared_by(*tried.attempt, *declaration);
}

std::string how(const Tried& tried) {
  const std::string error = errno_of(tried);
  const std::string detail = ascii(tried.outcome.detail());
  if (error.empty() || detail.empty()) return error + detail;
  return error + ", " + detail;
}

nlohmann::json entry(const Tried& tried, const std::optional<ProbeDeclaration>& declaration) {
  return {{"id", tried.attempt->id},
          {"class", name_of(tried.kind)},
          {"meaning", tried.attempt->meaning},
          {"held", tried.outcome.kind == OutcomeKind::held},
          {"result", name_of(tried.outcome.kind)},
          {"verdict", name_of(verdict_on(tried, declaration))},
          {"errno", errno_of(tried)},
          {"detail", ascii(tried.outcome.detail())},
          {"declared_by", declared_text(tried, declaration)}};
}

std::map<Verdict, int> counts(const std::vector<Tried>& results,
                              const std::optional<ProbeDeclaration>& declaration) {
  std::map<Verdict, int> counted;
  for (const Tried& tried : results) ++counted[verdict_on(tried, declaration)];
  return counted;
}

std::string open_line(const Tried& tried, const std::optional<ProbeDeclaration>& declaration) {
  const bool declared = verdict_on(tried, declaration) == Verdict::declared;
  std::string line = declared ? "open" : "OPEN";
  line += "  " + std::string(tried.attempt->id) + ": " + std::string(tried.attempt->meaning);
  if (const std::string why = how(tried); !why.empty()) line += " [" + why + "]";
  if (declared) line += " (" + declared_text(tried, declaration) + ")";
  return line + "\n";
}

}  // namespace

Verdict verdict_on(const Tried& tried, const std::optional<ProbeDeclaration>& declaration) {
  switch (tried.outcome.kind) {
    case OutcomeKind::held:
      return Verdict::held;
    case OutcomeKind::not_applicable:
      return Verdict::not_applicable;
    case OutcomeKind::unclear:
      return Verdict::unexpected;
    case OutcomeKind::open:
      break;
  }
  const bool declared = declaration && !declared_by(*tried.attempt, *declaration).empty();
  return declared ? Verdict::declared : Verdict::unexpected;
}

bool nothing_held(const std::vector<Tried>& results) {
  return std::ranges::none_of(
      results, [](const Tried& tried) { return tried.outcome.kind == OutcomeKind::held; });
}

nlohmann::json to_json(const std::vector<Tried>& results,
                       const std::optional<ProbeDeclaration>& declaration) {
  nlohmann::json attempts = nlohmann::json::array();
  for (const Tried& tried : results) attempts.push_back(entry(tried, declaration));
  auto counted = counts(results, declaration);
  return {{"declared", declaration ? to_text(*declaration) : ""},
          {"attempts", attempts},
          {"summary",
           {{"attempts", results.size()},
            {"held", counted[Verdict::held]},
            {"declared", counted[Verdict::declared]},
            {"unexpected", counted[Verdict::unexpected]},
            {"not_applicable", counted[Verdict::not_applicable]}}}};
}

std::string to_tsv(const std::vector<Tried>& results,
                   const std::optional<ProbeDeclaration>& declaration) {
  std::string text;
  for (const Tried& tried : results) {
    text += std::string(tried.attempt->id) + '\t' + std::string(name_of(tried.kind)) + '\t' +
            std::string(name_of(tried.outcome.kind)) + '\t' + errno_of(tried) + '\t' +
            ascii(tried.outcome.detail()) + '\t' +
            std::string(name_of(verdict_on(tried, declaration))) + '\t' +
            declared_text(tried, declaration) + '\n';
  }
  return text;
}

std::string to_table(const std::vector<Tried>& results,
                     const std::optional<ProbeDeclaration>& declaration) {
  std::string text;
  for (const Verdict wanted : {Verdict::unexpected, Verdict::declared}) {
    for (const Tried& tried : results) {
      if (verdict_on(tried, declaration) == wanted) text += open_line(tried, declaration);
    }
  }
  auto counted = counts(results, declaration);
  return text + std::to_string(counted[Verdict::held]) + " of " + std::to_string(results.size()) +
         " attempts held, " + std::to_string(counted[Verdict::declared]) + " open as declared, " +
         std::to_string(counted[Verdict::unexpected]) + " open or unclear without, " +
         std::to_string(counted[Verdict::not_applicable]) + " not applicable here\n";
}

std::string list_of_attempts() {
  std::string text;
  for (const AttemptGroup& group : attempt_groups()) {
    for (const Attempt& attempt : group.attempts) {
      text += std::string(attempt.id) + '\t' + std::string(name_of(group.kind)) + '\t' +
              std::string(attempt.meaning) + '\n';
    }
  }
  return text;
}

}  // namespace cellblock::probe
