#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/jsonrpc.h"
#include "supervisor/gateway/aggregate/aggregate_effects.h"
#include "supervisor/gateway/aggregate/assortment.h"
#include "supervisor/gateway/aggregate/members.h"
#include "supervisor/gateway/aggregate/own_ids.h"
#include "supervisor/gateway/io/clock.h"

/// Lists that a running server says have changed, asked for again: all their pages.
namespace cellblock::gateway {

class ListRefresh {
 public:
  static constexpr Milliseconds coalesce{50};  ///< servers announce every tool by itself
  /// From one time of asking to the next: a server that announces without end is not asked so.
  static constexpr Milliseconds gap{1'000};
  static constexpr std::size_t max_pages = 64;
  static constexpr std::size_t max_bytes = 16U << 20;  ///< of one list

  ListRefresh(const Members& members, Assortment& assortment, OwnIds& ids,
              AggregateEffects& effects)
      : members_(members), assortment_(assortment), ids_(ids), effects_(effects) {}

  void mark(std::uint32_t server, ListKind kind, Time now);
  std::optional<Time> next_due() const { return due_; }
  /// `meta`: of the host's requests, since lists may depend on a client's capabilities.
  void ask_due(const std::string& meta, Time now);

  enum class Answer : std::uint8_t { not_mine, more_to_come, list_is_new };
  Answer answer(std::uint32_t server, std::string_view line, const Message& message);

  void leg_failed(std::uint32_t server);
  void clear();

 private:
  struct Asked {
    std::uint64_t ours = 0;
    std::uint32_t server = 0;
    ListKind kind{};
    std::size_t pages = 1;
    std::string items;  ///< of the pages so far: a JSON array without its end
    std::string meta;
  };
  void ask(Asked asked, std::string_view raw_cursor);
  Answer finish(const Asked& asked);

  const Members& members_;
  Assortment& assortment_;
  OwnIds& ids_;
  AggregateEffects& effects_;
  std::set<std::pair<std::uint32_t, ListKind>> marked_;
  std::vector<Asked> asked_;
  std::optional<Time> due_;
  std::optional<Time> asked_at_;
};

}  // namespace cellblock::gateway
