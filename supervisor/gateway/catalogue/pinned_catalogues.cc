#include "supervisor/gateway/catalogue/pinned_catalogues.h"

#include <nlohmann/json.hpp>

#include "policy/json/json_text.h"
#include "supervisor/gateway/message/json_tree.h"

namespace cellblock::gateway {
namespace {

using Json = nlohmann::ordered_json;

std::string admitted_items(const PinSet& pins, ListKind kind, const std::string& items) {
  Json all = read_tree(items);
  if (!all.is_array()) return "[]";
  Json kept = Json::array();
  for (Json& item : all) {
    if (pins.admits_item(kind, item)) kept.push_back(std::move(item));
  }
  return kept.size() == all.size() ? items : write_tree(kept);
}

}  // namespace

Catalogues::Waiter PinnedCatalogues::want(std::uint32_t server, Told told) {
  return all_.want(server, [this, server, outcome = std::move(told)](const Catalogue* catalogue,
                                                                     const Failure& failure) {
    outcome(admitted(server, catalogue), failure);
  });
}

// Parsing, digesting and searching each time that somebody looks would cost more than the lists
// themselves.
const Catalogue* PinnedCatalogues::admitted(std::uint32_t server,
                                            const Catalogue* catalogue) const {
  if (catalogue == nullptr) return nullptr;
  const PinSet& pins = pins_.of(server);
  const bool is_pinned = pins.mode() != PinMode::off;
  const bool is_redacted = redactions_.watches_host(server);
  if (!is_pinned && !is_redacted) return catalogue;
  if (is_pinned) pins_.see_first(server, *catalogue);
  std::optional<Kept>& kept = kept_[server];
  if (kept && kept->revision == pins_.revision(server) && kept->of == *catalogue) {
    return &kept->admitted;
  }
  kept.emplace(Kept{pins_.revision(server), *catalogue, *catalogue});
  for (std::size_t i = 0; is_pinned && i < list_kind_count; ++i) {
    kept->admitted.lists.at(i) =
        admitted_items(pins, static_cast<ListKind>(i), catalogue->lists.at(i));
  }
  if (is_redacted) redact(server, kept->admitted);
  return &kept->admitted;
}

// What is blocked is not there.
void PinnedCatalogues::redact(std::uint32_t server, Catalogue& catalogue) const {
  catalogue.protocol_version = redactions_.clean(server, catalogue.protocol_version);
  catalogue.instructions = redactions_.clean(server, catalogue.instructions);
  for (std::string* object : {&catalogue.server_info, &catalogue.capabilities}) {
    *object = redactions_.clean_json(server, *object).value_or("{}");
  }
  for (std::string& items : catalogue.lists) items = redacted_items(server, items);
}

std::string PinnedCatalogues::redacted_items(std::uint32_t server, const std::string& items) const {
  if (auto cleaned = redactions_.clean_json(server, items)) return *std::move(cleaned);
  const auto all = raw_elements(items);
  std::string kept;
  for (const std::string_view item : all.value_or(std::vector<std::string_view>{})) {
    const auto cleaned = redactions_.clean_json(server, item);
    if (!cleaned) continue;
    kept += kept.empty() ? "" : ",";
    kept += *cleaned;
  }
  return "[" + kept + "]";
}

}  // namespace cellblock::gateway
