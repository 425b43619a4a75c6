#include "supervisor/gateway/aggregate/server_offer.h"

#include <unordered_set>
#include <utility>

#include "policy/mcp/lists.h"
#include "policy/mcp/meta_keys.h"
#include "supervisor/gateway/aggregate/json_text.h"
#include "supervisor/gateway/checks/list_access.h"
#include "supervisor/gateway/checks/metadata.h"

namespace cellblock::gateway {
namespace {

/// Where a tool names the resource that shows its results; the second spelling is the older one.
Json* ui_member(Json& tool) {
  Json* meta = member(tool, "_meta");
  if (meta == nullptr) return nullptr;
  if (Json* ui = member(*meta, "ui"); ui != nullptr) return member(*ui, "resourceUri");
  return member(*meta, "ui/resourceUri");
}

std::string ui_of(Json& tool) {
  const Json* uri = ui_member(tool);
  return uri != nullptr && uri->is_string() ? uri->get<std::string>() : std::string{};
}

/// Prefixes `title` where there is one.
void name_server_in(Json& object, const Server& server) {
  const std::string title = string_in(object, "title");
  if (!title.empty()) object["title"] = server.name + ": " + title;
}

// A tool's or prompt's own name says whose it is already. A resource's says nothing.
void name_server(Json& item, ListKind kind, const Server& server) {
  const bool is_resource = kind == ListKind::resources || kind == ListKind::resource_templates;
  if (is_resource && string_in(item, "title").empty()) {
    const std::string name = string_in(item, "name");
    if (!name.empty()) item["title"] = name;
  }
  name_server_in(item, server);
  if (Json* annotations = member(item, "annotations")) name_server_in(*annotations, server);
}

std::string rest_of(const Json& item) {
  const std::string text = text_of(item);
  return item.empty() ? text.substr(1) : "," + text.substr(1);
}

OfferedItem item_of(Json& json, std::string key, ListKind kind, const Server& server) {
  OfferedItem item{.key = std::move(key)};
  leave_out(json, {mcp::facts_of(kind).identity});
  if (kind == ListKind::tools) item.ui = ui_of(json);
  name_server(json, kind, server);
  item.rest = rest_of(json);
  return item;
}

}  // namespace

OfferedList offered_list(const Server& server, const Rights& rights, ListKind kind,
                         std::string_view items) {
  Json json = parse_json(items);
  OfferedList offered;
  if (!json.is_array()) return offered;
  std::unordered_set<std::string> seen;
  for (Json& element : json) {
    std::string key = string_in(element, mcp::facts_of(kind).identity);
    if (key.empty() || !rights.shows(access_kind(kind), key)) continue;
    if (!seen.insert(key).second) continue;
    offered.push_back(item_of(element, std::move(key), kind, server));
  }
  return offered;
}

OfferedFeatures offered_features(std::string_view capabilities) {
  const Json json = parse_json(capabilities);
  const auto has = [&](const char* name) { return member(json, name) != nullptr; };
  OfferedFeatures features{.tools = has("tools"),
                           .resources = has("resources"),
                           .prompts = has("prompts"),
                           .completions = has("completions"),
                           .logging = has("logging")};
  if (features.resources) {
    const Json* subscribe = member(*member(json, "resources"), "subscribe");
    features.subscribe = subscribe != nullptr && *subscribe == true;
  }
  const Json* extensions = member(json, "extensions");
  features.tasks = extensions != nullptr && member(*extensions, mcp::extension::tasks) != nullptr;
  return features;
}

ServerOffer offer_of(const Server& server, const Rights& rights, const Catalogue& catalogue) {
  ServerOffer offer;
  for (std::size_t i = 0; i < list_kind_count; ++i) {
    const auto kind = static_cast<ListKind>(i);
    offer.lists.at(i) = offered_list(server, rights, kind, catalogue.list(kind));
  }
  offer.features = offered_features(catalogue.capabilities);
  offer.instructions = catalogue.instructions;
  return offer;
}

std::string shown_item(ListKind kind, const OfferedItem& item, std::string_view shown,
                       const std::string& ui) {
  std::string text =
      "{\"" + std::string(mcp::facts_of(kind).identity) + "\":" + json_string(shown) + item.rest;
  if (ui == item.ui) return text;
  Json json = parse_json(text);
  if (Json* uri = ui_member(json)) *uri = ui;
  return text_of(json);
}

}  // namespace cellblock::gateway
