#include "supervisor/gateway/aggregate/merged_lists.h"

#include <algorithm>
#include <functional>
#include <unordered_set>
#include <utility>

#include "policy/mcp/methods.h"
#include "policy/mcp/protocol_words.h"
#include "supervisor/gateway/aggregate/public_name.h"
#include "supervisor/gateway/checks/list_pages.h"
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

namespace {

std::size_t index_of(ListKind kind) { return static_cast<std::size_t>(kind); }

constexpr std::array<ListKind, list_kind_count> offered_kinds = {
    ListKind::tools, ListKind::resources, ListKind::resource_templates, ListKind::prompts};

}  // namespace

void MergedLists::set(std::uint32_t server, ServerOffer offer) {
  offers_[server] = std::move(offer);
  is_merged_ = false;
}

void MergedLists::remove(std::uint32_t server) {
  offers_.erase(server);
  is_merged_ = false;
}

void MergedLists::set_list(std::uint32_t server, ListKind kind, OfferedList list) {
  offers_[server].lists.at(index_of(kind)) = std::move(list);
  is_merged_ = false;
}

ResourceRoutes& MergedLists::routes() {
  merge();
  return routes_;
}

// When somebody asks, not when a catalogue comes: at the start they come one after the other.
void MergedLists::merge() {
  if (std::exchange(is_merged_, true)) return;
  for (auto& list : shown_) list.clear();
  for (auto& targets : targets_) targets.clear();
  cut_short_.clear();
  items_ = 0;
  bytes_ = 0;
  merge_routes();
  for (const auto& [server, offer] : offers_) {
    for (const ListKind kind : offered_kinds) merge_list(server, kind, offer.lists[index_of(kind)]);
  }
}

// What is listed comes before what is only referred to, whoever refers.
void MergedLists::merge_routes() {
  routes_.clear_listed();
  for (const auto& [server, offer] : offers_) {
    for (const auto& item : offer.lists[index_of(ListKind::resources)]) {
      routes_.list_resource(server, item.key);
    }
    for (const auto& item : offer.lists[index_of(ListKind::resource_templates)]) {
      routes_.list_template(server, item.key);
    }
  }
  for (const auto& [server, offer] : offers_) {
    for (const auto& item : offer.lists[index_of(ListKind::tools)]) {
      if (!item.ui.empty()) routes_.list_reference(server, item.ui);
    }
  }
}

void MergedLists::merge_list(std::uint32_t server, ListKind kind, const OfferedList& list) {
  std::uint32_t number = 0;
  for (const OfferedItem& item : list) show(server, kind, item, number++);
}

std::string MergedLists::shown_key(std::uint32_t server, ListKind kind,
                                   const std::string& key) const {
  switch (kind) {
    case ListKind::resources:
      return routes_.shown(server, key);
    case ListKind::resource_templates:
      return routes_.shown_template(server, key);
    case ListKind::tools:
    case ListKind::prompts:
      break;
  }
  return public_name(members_.name(server), key);
}

void MergedLists::show(std::uint32_t server, ListKind kind, const OfferedItem& item,
                       std::uint32_t number) {
  const std::string key = shown_key(server, kind, item.key);
  const std::string ui = item.ui.empty() ? item.ui : routes_.shown(server, item.ui);
  std::string json = shown_item(kind, item, key, ui);
  const bool fits =
      items_ < max_items && json.size() <= max_item && bytes_ + json.size() <= max_bytes;
  if (!fits) return leave_out(server);
  // The first one has the name, should two short names ever be the same.
  if (!targets_[index_of(kind)].try_emplace(key, Target{server, item.key}).second) {
    return leave_out(server);
  }
  ++items_;
  bytes_ += json.size();
  shown_[index_of(kind)].push_back({{server, number}, std::move(json)});
}

void MergedLists::leave_out(std::uint32_t server) {
  if (cut_short_.empty() || cut_short_.back() != server) cut_short_.push_back(server);
}

MergedLists::Page MergedLists::page(ListKind kind, Place from) {
  merge();
  const auto& list = shown_[index_of(kind)];
  auto item = std::ranges::lower_bound(list, from, {}, &Shown::place);
  Page page{.items = "["};
  for (std::size_t count = 0; item != list.end() && count < page_items; ++item, ++count) {
    if (count > 0 && page.items.size() + item->json.size() > page_bytes) break;
    if (count > 0) page.items.push_back(',');
    page.items += item->json;
  }
  page.items.push_back(']');
  if (item != list.end()) page.next = item->place;
  return page;
}

std::size_t MergedLists::digest(ListKind kind) {
  merge();
  std::size_t digest = 0;
  for (const Shown& item : shown_[index_of(kind)]) {
    digest = digest * 1'000'003 + std::hash<std::string>{}(item.json);
  }
  return digest;
}

const std::vector<std::uint32_t>& MergedLists::cut_short() {
  merge();
  return cut_short_;
}

std::optional<MergedLists::Target> MergedLists::find_named(ListKind kind, std::string_view shown) {
  if (const auto plain = split_plain_name(shown)) {
    const auto server = members_.find(plain->server);
    if (!server) return std::nullopt;
    return Target{*server, std::string(plain->original)};
  }
  merge();
  const auto& targets = targets_[index_of(kind)];
  const auto found = targets.find(std::string(shown));
  return found == targets.end() ? std::nullopt : std::optional(found->second);
}

std::optional<MergedLists::Target> MergedLists::find_template(std::string_view shown) {
  merge();
  const auto& targets = targets_[index_of(ListKind::resource_templates)];
  const auto found = targets.find(std::string(shown));
  return found == targets.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace cellblock::gateway
