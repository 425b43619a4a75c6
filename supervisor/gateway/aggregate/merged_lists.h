#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "policy/access/rights.h"
#include "policy/config/config.h"
#include "supervisor/gateway/aggregate/members.h"
#include "supervisor/gateway/aggregate/resource_routes.h"
#include "supervisor/gateway/checks/catalogue.h"

/// What all servers offer together: the merged lists, and what every name in them stands for. In
/// the order of the servers' names, and within one in its own order, so that a list that has not
/// changed is the same text.
namespace cellblock::gateway {

// What one server offers to one user, without what does not exist for that user.

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

class MergedLists {
 public:
  static constexpr std::size_t max_items = 20'000;     ///< in all lists together
  static constexpr std::size_t max_bytes = 32U << 20;  ///< likewise
  static constexpr std::size_t max_item = 1U << 20;    ///< bytes of one
  static constexpr std::size_t page_items = 500;
  static constexpr std::size_t page_bytes = 1U << 20;

  explicit MergedLists(const Members& members) : members_(members), routes_(members) {}

  void set(std::uint32_t server, ServerOffer offer);
  void set_list(std::uint32_t server, ListKind kind, OfferedList list);
  void remove(std::uint32_t server);
  bool has(std::uint32_t server) const { return offers_.contains(server); }
  const std::map<std::uint32_t, ServerOffer>& offers() const { return offers_; }

  /// An item's place, which stays what it is while other servers' lists change.
  struct Place {
    std::uint32_t server = 0;
    std::uint32_t number = 0;
    auto operator<=>(const Place&) const = default;
  };
  struct Page {
    std::string items;  ///< a JSON array
    std::optional<Place> next;
  };
  Page page(ListKind kind, Place from);
  /// Changes when the list does.
  std::size_t digest(ListKind kind);
  /// Servers of which something was left out, because all of it would be too much.
  const std::vector<std::uint32_t>& cut_short();

  struct Target {
    std::uint32_t server = 0;
    std::string original;
  };
  /// Finds the target of a tool or prompt. A plain name is resolved whether it is listed or not:
  /// the server decides.
  std::optional<Target> find_named(ListKind kind, std::string_view shown);
  /// Finds the target of a template by its shown form.
  std::optional<Target> find_template(std::string_view shown);

  ResourceRoutes& routes();

 private:
  struct Shown {
    Place place;
    std::string json;
  };

  void merge();
  void merge_routes();
  void merge_list(std::uint32_t server, ListKind kind, const OfferedList& list);
  std::string shown_key(std::uint32_t server, ListKind kind, const std::string& key) const;
  void show(std::uint32_t server, ListKind kind, const OfferedItem& item, std::uint32_t number);
  void leave_out(std::uint32_t server);

  const Members& members_;
  std::map<std::uint32_t, ServerOffer> offers_;
  ResourceRoutes routes_;
  bool is_merged_ = false;
  std::array<std::vector<Shown>, list_kind_count> shown_;
  /// Keyed by the shown form of names that cannot be split: short names and templates.
  std::array<std::unordered_map<std::string, Target>, list_kind_count> targets_;
  std::vector<std::uint32_t> cut_short_;
  std::size_t items_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace cellblock::gateway
