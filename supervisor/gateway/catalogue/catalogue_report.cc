#include "supervisor/gateway/catalogue/catalogue_report.h"

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "policy/mcp/methods.h"

namespace cellblock::gateway {
namespace {

using Json = nlohmann::ordered_json;

std::string_view name_of(Speaks speaks) {
  constexpr std::array<std::string_view, 3> names{"unknown", "yes", "no"};
  return names.at(static_cast<std::size_t>(speaks));
}

// Those that were found; most servers have none.
Json found_json(const Findings& findings) {
  Json json = Json::object();
  for (std::size_t i = 0; i < finding_count; ++i) {
    const auto finding = static_cast<Finding>(i);
    if (findings.of(finding) != 0) json[name_of(finding)] = findings.of(finding);
  }
  return json;
}

// Of an array that was written here. It is not read: it may have megabytes.
std::size_t count_items(std::string_view array) {
  std::size_t commas = 0;
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < array.size(); ++i) {
    const char c = array[i];
    if (in_text && c == '\\') {
      ++i;
    } else if (c == '"') {
      in_text = !in_text;
    } else if (!in_text) {
      if (c == '[' || c == '{') ++depth;
      if (c == ']' || c == '}') --depth;
      if (c == ',' && depth == 1) ++commas;
    }
  }
  return array.size() <= 2 ? 0 : commas + 1;
}

Json counts_json(const Catalogue& catalogue) {
  Json json = Json::object();
  for (std::size_t i = 0; i < list_kind_count; ++i) {
    const auto kind = static_cast<ListKind>(i);
    json[mcp::facts_of(kind).items] = count_items(catalogue.list(kind));
  }
  return json;
}

void add_kept(Json& json, const KeptCatalogue& kept) {
  const Catalogue& catalogue = kept.catalogue;
  json["era"] = catalogue.era == Era::modern ? "modern" : "legacy";
  json["protocol_version"] = catalogue.protocol_version;
  json["found_at_ms"] = catalogue.found_at_ms;
  json["lists"] = counts_json(catalogue);
  json["metadata"] = found_json(kept.findings);
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
