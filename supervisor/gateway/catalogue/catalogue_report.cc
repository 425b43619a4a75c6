#include "supervisor/gateway/catalogue/catalogue_report.h"

#include <array>
#include <nlohmann/json.hpp>

namespace cellblock::gateway {
namespace {

using Json = nlohmann::ordered_json;

std::string_view name_of(Speaks speaks) {
  constexpr std::array<std::string_view, 3> names{"unknown", "yes", "no"};
  return names.at(static_cast<std::size_t>(speaks));
}

// Those that were found; most servers have none.
Json findings_json(const Findings& findings) {
  Json json = Json::object();
  for (std::size_t i = 0; i < finding_count; ++i) {
    const auto finding = static_cast<Finding>(i);
    if (findings.of(finding) != 0) json[name_of(finding)] = findings.of(finding);
  }
  return json;
}

void add_kept(Json& json, const KeptCatalogue& kept) {
  const Catalogue& catalogue = kept.catalogue;
  json["era"] = catalogue.era == Era::modern ? "modern" : "legacy";
  json["protocol_version"] = catalogue.protocol_version;
  json["found_at_ms"] = catalogue.found_at_ms;
  json["metadata"] = findings_json(kept.findings);
}

}  // namespace

Json catalogue_json(const CatalogueView& view) {
  Json json{
      {"source", name_of(view.source)},
      {"expired", view.expired},
      {"changed", view.changed},
      {"surveying", view.surveying},
      {"speaks", {{"legacy", name_of(view.eras.legacy)}, {"modern", name_of(view.eras.modern)}}}};
  if (view.kept != nullptr) add_kept(json, *view.kept);
  if (view.failed != nullptr) json["failed"] = view.failed->message;
  return json;
}

}  // namespace cellblock::gateway
