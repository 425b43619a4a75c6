#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/access/rights.h"
#include "supervisor/gateway/checks/catalogue.h"
#include "supervisor/gateway/checks/metadata.h"

/// Asks for the pages of a server's lists, one after the other, and keeps their items. Pure; a
/// server that never comes to an end is cut off.
namespace cellblock::gateway {

class ListPages {
 public:
  /// `max_bytes` of all lists together, as they were received.
  explicit ListPages(std::uint64_t max_bytes) : max_bytes_(max_bytes) {}

  static constexpr std::size_t max_pages = 256;  ///< of one list

  /// Fetches the lists that a `capabilities` object promises: `resources` has two.
  void want_what_is_promised(const nlohmann::ordered_json& capabilities);

  struct Page {
    ListKind kind{};
    std::optional<std::string> cursor;  ///< nullopt: the first one
  };
  /// The one to be asked for now; nullopt: all lists are complete.
  std::optional<Page> next() const;

  /// The answer to next(): a whole `result`.
  enum class Taken : std::uint8_t { good, too_many_bytes, no_list };
  Taken take(std::string_view result);
  /// next() was answered with an error: what is there so far stays.
  void skip();

  /// Cleaned; the pages are moved out.
  Findings finish(Catalogue& into);

 private:
  void list_done();
  void follow(const nlohmann::ordered_json& result);

  std::uint64_t max_bytes_;
  std::uint64_t bytes_ = 0;
  std::vector<ListKind> wanted_;  ///< the last one first
  std::optional<std::string> cursor_;
  std::size_t pages_ = 0;
  std::array<nlohmann::ordered_json, list_kind_count> items_;
  std::uint64_t endless_ = 0;
};

/// What the items of a list are to the rules.
inline AccessKind access_kind(ListKind kind) {
  switch (kind) {
    case ListKind::tools:
      return AccessKind::tool;
    case ListKind::resources:
      return AccessKind::resource;
    case ListKind::resource_templates:
      return AccessKind::resource_template;
    case ListKind::prompts:
      break;
  }
  return AccessKind::prompt;
}

}  // namespace cellblock::gateway
