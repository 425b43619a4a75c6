#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "policy/access/rights.h"
#include "policy/config/config.h"
#include "supervisor/gateway/checks/catalogue.h"

/// What one server offers to one user, ready to be shown among others': what does not exist for
/// that user is not in it.
namespace cellblock::gateway {

struct OfferedItem {
  std::string key;   ///< its name or URI, as the server knows it
  std::string rest;  ///< the other members, from the comma (if any) to the closing brace
  std::string ui;    ///< of a tool: the resource that shows its results (MCP Apps), or empty
};

struct OfferedFeatures {
  bool tools = false;
  bool resources = false;
  bool subscribe = false;
  bool prompts = false;
  bool completions = false;
  bool logging = false;
  bool tasks = false;
};

using OfferedList = std::vector<OfferedItem>;

struct ServerOffer {
  std::array<OfferedList, list_kind_count> lists;
  OfferedFeatures features;
  std::string instructions;
};

/// `items`: a JSON array. What has no key, and what comes a second time, is left out. Titles say
/// whose they are ("files: Read file"); descriptions stay as they are.
OfferedList offered_list(const Server& server, const Rights& rights, ListKind kind,
                         std::string_view items);

OfferedFeatures offered_features(std::string_view capabilities);

ServerOffer offer_of(const Server& server, const Rights& rights, const Catalogue& catalogue);

/// The item as it is shown: under `shown`, with its resource under `ui` if that is another one.
std::string shown_item(ListKind kind, const OfferedItem& item, std::string_view shown,
                       const std::string& ui);

}  // namespace cellblock::gateway
