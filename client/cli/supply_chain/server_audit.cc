#include "client/cli/supply_chain/server_audit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "client/cli/add/new_server.h"
#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;
using Lines = std::vector<std::string>;

bool is_of_package(const RegistryFinding& finding, const Origin& origin) {
  return finding.package == origin.package;
}

RegistryFinding own_finding(FindingKind kind, const Origin& origin, std::string detail) {
  return {.kind = kind,
          .package = origin.package,
          .version = origin.version,
          .detail = std::move(detail)};
}

std::string list_of(const Lines& names) {
  return names.empty() ? "nobody" : fmt::format("{}", fmt::join(names, ", "));
}

// Who may publish its next version. The registry of a package that had none recorded tells nothing
// by having some now.
void add_owners(const Origin& origin, const RegistryReport& report, ServerAudit& audit) {
  const auto& before = origin.record.maintainers;
  if (before.empty() || report.maintainers.empty()) {
    const char* who = before.empty() && !report.maintainers.empty()
                          ? "who maintained it was not recorded when it was installed; an update "
                            "records it"
                          : "its registry does not say who maintains it";
    audit.notes.emplace_back(who);
    return;
  }
  if (before != report.maintainers) {
    audit.findings.push_back(
        own_finding(FindingKind::changed_hands, origin,
                    fmt::format("maintained by {}; when it was installed by {}",
                                list_of(report.maintainers), list_of(before))));
  }
}

// One who was neither a maintainer nor the publisher of what is installed.
void add_publisher(const Origin& origin, const RegistryReport& report, ServerAudit& audit) {
  const auto& publisher = report.newest_publisher;
  const auto& before = origin.record.maintainers;
  const bool is_known = publisher.empty() || before.empty() ||
                        publisher == origin.record.publisher ||
                        std::ranges::find(before, publisher) != before.end();
  if (is_known) return;
  audit.findings.push_back(
      own_finding(FindingKind::changed_hands, origin,
                  fmt::format("{} was published by {}, who did not maintain it when {} was "
                              "installed",
                              report.newest, publisher, origin.version)));
}

void add_behind(const Origin& origin, const RegistryReport& report, ServerAudit& audit) {
  if (report.newest.empty() || report.newest == origin.version) return;
  audit.findings.push_back(
      own_finding(FindingKind::behind, origin, fmt::format("{} is the newest", report.newest)));
}

// What its author has to mend is a note. A finding is what whoever runs the server can act on.
void add_reported(const Origin& origin, const RegistryReport& report, ServerAudit& audit) {
  Lines deprecated;
  for (const auto& finding : report.findings) {
    const bool is_dependency =
        finding.kind == FindingKind::deprecated && !is_of_package(finding, origin);
    if (is_dependency) {
      deprecated.push_back(fmt::format("{} {}", finding.package, finding.version));
    } else {
      audit.findings.push_back(finding);
    }
  }
  if (!deprecated.empty()) {
    audit.notes.push_back(fmt::format("deprecated among the packages that it needs: {}",
                                      fmt::join(deprecated, ", ")));
  }
  if (report.left_out > 0) audit.notes.push_back(fmt::format("{} more findings", report.left_out));
}

void add_signatures(const Origin& origin, const RegistryReport& report, ServerAudit& audit) {
  if (origin.registry == Registry::image) {
    audit.notes.emplace_back("signatures of images are not looked for");
    return;
  }
  if (origin.record.is_signed && !report.has_keys) {
    audit.findings.push_back(
        own_finding(FindingKind::unsigned_package, origin,
                    "the registry signed it when it was installed, and gives no signatures now"));
  }
  audit.notes.push_back(signature_note(report, registry_in_words(origin.registry)));
  if (report.attested > 0) {
    audit.notes.push_back(
        fmt::format("{} of {} packages have a provenance attestation, which was not verified",
                    report.attested, report.packages));
  }
}

ServerAudit begun(const std::string& server, const Origin& origin) {
  return {.server = server,
          .package = origin.package,
          .version = origin.version,
          .newest = {},
          .findings = {},
          .notes = {},
          .error = {}};
}

std::string finding_line(const RegistryFinding& finding) {
  std::string kind = name_of(finding.kind);
  std::ranges::replace(kind, '_', ' ');
  const auto detail = finding.detail.empty() ? std::string() : ": " + finding.detail;
  return fmt::format("  {:<16} {} {}{}\n", kind, safe_line(finding.package),
                     safe_line(finding.version), safe_line(detail));
}

OrderedJson finding_json(const RegistryFinding& finding) {
  return {{"kind", name_of(finding.kind)},
          {"package", finding.package},
          {"version", finding.version},
          {"detail", finding.detail}};
}

OrderedJson audit_object(const ServerAudit& audit) {
  OrderedJson findings = OrderedJson::array();
  for (const auto& finding : audit.findings) findings.push_back(finding_json(finding));
  OrderedJson json{{"server", audit.server},          {"package", audit.package},
                   {"version", audit.version},        {"newest", audit.newest},
                   {"findings", std::move(findings)}, {"notes", audit.notes}};
  if (!audit.error.empty()) json["error"] = audit.error;
  return json;
}

}  // namespace

ServerAudit audit_of(const std::string& server, const Origin& origin,
                     const RegistryReport& report) {
  auto audit = begun(server, origin);
  audit.newest = report.newest;
  add_reported(origin, report, audit);
  add_owners(origin, report, audit);
  add_publisher(origin, report, audit);
  add_behind(origin, report, audit);
  add_signatures(origin, report, audit);
  return audit;
}

ServerAudit audit_without_registry(const std::string& server, const Origin& origin) {
  auto audit = begun(server, origin);
  audit.notes.emplace_back(origin.registry == Registry::bundle
                               ? "a bundle: there is no registry to ask"
                               : "a program that was there already: there is no registry to ask");
  return audit;
}

std::string audit_text(const ServerAudit& audit) {
  auto text = fmt::format("{}  {} {}\n", safe_line(audit.server), safe_line(audit.package),
                          safe_line(audit.version));
  for (const auto& finding : audit.findings) text += finding_line(finding);
  for (const auto& note : audit.notes) text += fmt::format("  {}\n", safe_line(note));
  if (!audit.error.empty()) text += fmt::format("  {}\n", safe_text(audit.error));
  return text;
}

std::string audit_json(const std::vector<ServerAudit>& audits) {
  OrderedJson list = OrderedJson::array();
  for (const auto& audit : audits) list.push_back(audit_object(audit));
  return OrderedJson{{"servers", std::move(list)}}.dump(-1, ' ', false,
                                                        OrderedJson::error_handler_t::replace);
}

}  // namespace cellblock::cli
