#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "policy/jsonrpc/jsonrpc.h"
#include "supervisor/gateway/aggregate/aggregate_effects.h"
#include "supervisor/gateway/aggregate/members.h"
#include "supervisor/gateway/aggregate/merged_lists.h"
#include "supervisor/os/clock.h"

/// Lists that a running server says have changed, asked for again: all their pages.
namespace cellblock::gateway {

class ListRefresh {
 public:
  static constexpr Milliseconds coalesce{50};  ///< servers announce every tool by itself
  /// Time between two requests to one server. It doubles each time the server announces a change
  /// within twice that time, so a server that announces without end is rarely asked.
  static constexpr Milliseconds first_gap{1'000};
  static constexpr Milliseconds longest_gap{60'000};
  static constexpr Milliseconds patience{30'000};  ///< for all pages of a list
  static constexpr std::size_t max_pages = 64;

  /// `max_bytes`: of all lists of one server.
  ListRefresh(const Members& members, MergedLists& merged, OwnIds& ids, AggregateEffects& effects,
              std::size_t max_bytes)
      : members_(members), merged_(merged), ids_(ids), effects_(effects), max_bytes_(max_bytes) {}

  void mark(std::uint32_t server, ListKind kind, Time now);
  std::optional<Time> next_due() const;
  /// Asks for what is due, and gives up what has not come. `meta`: of the host's requests, since
  /// lists may depend on a client's capabilities.
  void deadline(const std::string& meta, Time now);

  enum class Answer : std::uint8_t { not_mine, more_to_come, list_is_new };
  Answer answer(std::uint32_t server, std::string_view line, const Message& message);

  void route_failed(std::uint32_t server);
  void clear();

 private:
  struct Asked {
    std::uint64_t own_id = 0;
    std::uint32_t server = 0;
    ListKind kind{};
    std::size_t pages = 1;
    std::string items;  ///< of the pages so far: a JSON array without its end
    std::string meta;
    Time due;  ///< for the last page
  };
  struct Announcer {
    std::set<ListKind> marked;
    std::optional<Time> due;
    std::optional<Time> asked_at;
    Milliseconds gap = first_gap;
  };
  void take_due(Announcer& announcer, Time now);
  void give_up_if(const std::function<bool(const Asked&)>& is_over);
  void ask(Asked asked, std::string_view raw_cursor);
  bool fits(const Asked& asked) const;
  Answer finish(const Asked& asked);

  const Members& members_;
  MergedLists& merged_;
  OwnIds& ids_;
  AggregateEffects& effects_;
  const std::size_t max_bytes_;
  std::map<std::uint32_t, Announcer> announcers_;  ///< by server
  std::vector<Asked> asked_;
};

}  // namespace cellblock::gateway
