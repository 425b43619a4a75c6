#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Bounds of calls: how many, at what rate, and how long each may take. Values of the
/// configuration. A call is any request that makes a server work: tools/call, prompts/get,
/// resources/read and completion/complete.
namespace cellblock {

/// A token bucket: `burst` calls at once, and `count` in each `period` for good.
struct Rate {
  std::uint32_t count = 1;
  std::chrono::milliseconds period{1'000};
  std::uint32_t burst = 1;
  bool operator==(const Rate&) const = default;
};

/// Bounds for one user, one session, one server, or one tool.
struct CallBounds {
  std::optional<Rate> rate;
  std::optional<std::uint32_t> in_flight;
  bool operator==(const CallBounds&) const = default;
};

/// Calls over a bound of those in flight wait here, of one server and user.
struct CallQueue {
  std::uint32_t most = 0;  ///< 0: they are refused
  std::chrono::milliseconds longest_wait{10'000};
  bool operator==(const CallQueue&) const = default;
};

/// How long one request may wait for its answer. No value: for ever.
struct CallTime {
  std::optional<std::chrono::milliseconds> deadline = std::chrono::milliseconds{60'000};
  /// From the beginning of the call: the latest deadline that progress may extend to.
  std::optional<std::chrono::milliseconds> longest = std::chrono::milliseconds{3'600'000};
  bool operator==(const CallTime&) const = default;
};

/// The admin's word that calling it twice with the same arguments is as good as calling it once.
enum class Repeatable : std::uint8_t { no, yes };

struct ToolCalls {
  std::string name;
  CallBounds bounds;
  CallTime time;
  Repeatable repeatable = Repeatable::no;
  bool operator==(const ToolCalls&) const = default;
};

struct ServerCalls {
  CallBounds bounds;
  CallQueue queue;
  CallTime time;
  std::uint32_t retries = 2;     ///< of one call
  std::vector<ToolCalls> tools;  ///< sorted by name: those that differ
  bool operator==(const ServerCalls&) const = default;
};

struct UserCalls {
  CallBounds user;     ///< everything together
  CallBounds session;  ///< one connection
  bool operator==(const UserCalls&) const = default;
};

/// Null: nothing is said about that tool. `name` empty: none's.
const ToolCalls* find_tool(const ServerCalls& rules, std::string_view name);

}  // namespace cellblock
