#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/jsonrpc/jsonrpc.h"
#include "supervisor/gateway/aggregate/members.h"
#include "supervisor/gateway/aggregate/merged_lists.h"
#include "supervisor/gateway/checks/kept_results.h"
#include "supervisor/gateway/message/sealer.h"
#include "supervisor/os/clock.h"

/// Answers about all servers: the four lists and server/discover, and which servers are missing in
/// them.
namespace cellblock::gateway {

/// A server that is not, or not wholly, in an answer.
struct Unavailable {
  std::uint32_t server = 0;
  std::string reason;
  std::string brief;  ///< the same in a few words, none of them the server's own
};

class AggregateLists {
 public:
  static constexpr Milliseconds cursor_life{10 * 60'000};
  static constexpr Milliseconds complete_ttl{60'000};  ///< 0 while a server is missing

  /// Whether cellblock_read_result is in a list that the host is given now; empty: there is no such
  /// tool.
  using ToolShown = std::function<ReadingTool()>;

  AggregateLists(const Members& members, MergedLists& merged, std::uint64_t session, Sealer& sealer,
                 ToolShown tool_shown)
      : members_(members),
        merged_(merged),
        session_(session),
        sealer_(sealer),
        tool_shown_(std::move(tool_shown)) {}

  /// Whole messages without their newline.
  std::string list(ListKind kind, std::string_view line, const Message& message,
                   std::vector<Unavailable> unavailable, Time now);
  std::string discover(std::string_view id, const std::vector<Unavailable>& unavailable) const;

 private:
  std::optional<MergedLists::Place> place_of(ListKind kind, std::string_view raw_cursor,
                                             Time now) const;
  std::optional<std::string> cursor_of(ListKind kind, MergedLists::Place place, Time now);
  SealBinding binding() const;

  const Members& members_;
  MergedLists& merged_;
  const std::uint64_t session_;
  Sealer& sealer_;
  const ToolShown tool_shown_;
};

}  // namespace cellblock::gateway
