#include "client/cli/install/registry_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "client/cli/import/read/declared_server.h"
#include "client/cli/import/read/input_json.h"
#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_report_findings = 1000;
constexpr std::size_t shown_packages = 5;

constexpr std::array<std::pair<FindingKind, const char*>, 7> kind_names{{
    {FindingKind::wrong_signature, "wrong_signature"},
    {FindingKind::altered, "altered"},
    {FindingKind::withdrawn, "withdrawn"},
    {FindingKind::deprecated, "deprecated"},
    {FindingKind::unsigned_package, "unsigned"},
    {FindingKind::behind, "behind"},
    {FindingKind::changed_hands, "changed_hands"},
}};

std::optional<FindingKind> kind_named(const std::string& name) {
  const auto found =
      std::ranges::find(kind_names, name, [](const auto& one) { return std::string(one.second); });
  return found == kind_names.end() ? std::nullopt : std::optional(found->first);
}

std::uint64_t count_member(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

Result<RegistryFinding> read_finding(const Json& json) {
  if (!json.is_object()) return fail("a finding is no object");
  const auto kind = kind_named(CELLBLOCK_TRY(text_member(json, "kind")));
  if (!kind) return fail("a finding has an unknown kind");
  return RegistryFinding{.kind = *kind,
                         .package = CELLBLOCK_TRY(text_member(json, "package")),
                         .version = CELLBLOCK_TRY(text_member(json, "version")),
                         .detail = CELLBLOCK_TRY(text_member(json, "detail"))};
}

Result<std::vector<RegistryFinding>> read_findings(const Json& json) {
  const auto& list = array_member(json, "findings");
  if (list.size() > most_report_findings) return fail("it has too many findings");
  std::vector<RegistryFinding> findings;
  for (const auto& one : list) findings.push_back(CELLBLOCK_TRY(read_finding(one)));
  return findings;
}

std::unexpected<Error> unreadable(const std::string& why) {
  return fail(fmt::format("what the registry's cell wrote cannot be read: {}", why));
}

Result<RegistryReport> report_of(const Json& json) {
  if (!json.is_object()) return fail("it is no object");
  RegistryReport report;
  report.newest = CELLBLOCK_TRY(text_member(json, "newest"));
  report.maintainers = CELLBLOCK_TRY(texts_member(json, "maintainers"));
  report.publisher = CELLBLOCK_TRY(text_member(json, "publisher"));
  report.newest_publisher = CELLBLOCK_TRY(text_member(json, "newest_publisher"));
  report.has_keys = is_true(json, "has_keys");
  report.packages = count_member(json, "packages");
  report.signed_packages = count_member(json, "signed");
  report.attested = count_member(json, "attested");
  report.findings = CELLBLOCK_TRY(read_findings(json));
  report.left_out = count_member(json, "left_out");
  return report;
}

std::vector<const RegistryFinding*> of_kind(const RegistryReport& report, FindingKind kind) {
  std::vector<const RegistryFinding*> found;
  for (const auto& finding : report.findings) {
    if (finding.kind == kind) found.push_back(&finding);
  }
  return found;
}

std::string names_of(const std::vector<const RegistryFinding*>& findings) {
  std::string names;
  for (std::size_t at = 0; at < std::min(findings.size(), shown_packages); ++at) {
    names += fmt::format("{}{} {}", at == 0 ? "" : ", ", safe_line(findings[at]->package),
                         safe_line(findings[at]->version));
  }
  return findings.size() > shown_packages ? names + ", ..." : names;
}

std::string unsigned_text(const RegistryReport& report) {
  const auto missing = of_kind(report, FindingKind::unsigned_package);
  if (missing.empty()) return {};
  return fmt::format("{} of {} packages have no signature: {}", missing.size(), report.packages,
                     names_of(missing));
}

std::string words_for(const RegistryFinding& finding) {
  const char* what = finding.kind == FindingKind::deprecated ? "is deprecated: " : "";
  return fmt::format("{} {}: {}{}", safe_line(finding.package), safe_line(finding.version), what,
                     safe_line(finding.detail));
}

// Of the packages that it needs, the deprecated ones are its author's concern.
bool is_worth_a_note(const RegistryFinding& finding, const std::string& package) {
  return finding.kind == FindingKind::withdrawn ||
         (finding.kind == FindingKind::deprecated && finding.package == package);
}

}  // namespace

const char* name_of(FindingKind kind) {
  return std::ranges::find(kind_names, kind, &std::pair<FindingKind, const char*>::first)->second;
}

Result<RegistryReport> read_registry_report(const std::string& text) {
  const auto json = json_of_json(text);
  if (!json) return unreadable(json.error().text);
  auto report = report_of(*json);
  if (!report) return unreadable(report.error().text);
  return report;
}

Result<void> check_signatures(const RegistryReport& report) {
  for (const auto& finding : report.findings) {
    const bool is_wrong = finding.kind == FindingKind::wrong_signature;
    if (!is_wrong && finding.kind != FindingKind::altered) continue;
    return fail(fmt::format("it is not installed, since {} {} {} is wrong: {}",
                            is_wrong ? "the registry's signature of" : "the archive of",
                            safe_line(finding.package), safe_line(finding.version),
                            safe_line(finding.detail)));
  }
  return {};
}

std::vector<std::string> notes_of(const RegistryReport& report, const std::string& registry,
                                  const std::string& package) {
  std::vector<std::string> notes;
  if (report.packages > 0) notes.push_back(signature_note(report, registry));
  for (const auto& finding : report.findings) {
    if (is_worth_a_note(finding, package)) notes.push_back(words_for(finding));
  }
  return notes;
}

std::string signature_note(const RegistryReport& report, const std::string& registry) {
  if (!report.has_keys) return fmt::format("{} gives no signatures", registry);
  auto missing = unsigned_text(report);
  if (!missing.empty()) return missing;
  return fmt::format("{} of {} packages have a signature of {} that fits", report.signed_packages,
                     report.packages, registry);
}

}  // namespace cellblock::cli
