#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "policy/failures/failure.h"
#include "supervisor/gateway/records/audit_record.h"
#include "supervisor/os/clock.h"

/// What an administrator has to know of a server, as lines for the daemon's log: its failures,
/// definitions that are withheld, calls that wait for an approval. A crash loop gets a few lines a
/// minute and a count. Pure.
namespace cellblock::gateway {

class ServerNews {
 public:
  static constexpr std::uint32_t lines_per_span = 6;  ///< of one server and kind
  static constexpr Milliseconds span{60'000};

  /// A cell has ended by itself, or was ended because of what it did. Nothing: not worth a line, or
  /// over the bound.
  std::optional<std::string> ended(std::string_view server, std::uint64_t cell,
                                   const Failure& failure, Time now);
  /// News from an audit record. `uid`: the user's, which the commands name.
  std::optional<std::string> recorded(const AuditEntry& record, std::uint32_t uid, Time now);

 private:
  struct Share {
    Time began{};
    std::uint32_t lines = 0;
    std::uint64_t left_out = 0;
  };

  using Shares =
      std::map<std::string, Share, std::less<>>;  ///< by server, of which there are so many

  std::optional<std::string> line(Shares& shares, std::string_view server, const std::string& text,
                                  Time now);

  // Separate budgets, so that crashes cannot hide a pending decision.
  Shares crashes_;
  Shares decisions_;
};

}  // namespace cellblock::gateway
