#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cellblock/types.h"
#include "client/connection/long_line.h"
#include "policy/jsonrpc/jsonrpc.h"

/// This side of a JSON-RPC conversation as a machine over lines: which calls are open, what an
/// incoming line means, what has to be said. No I/O, no clock: session.cc acts.
namespace cellblock::client {

struct OpenedCall {
  std::uint64_t id = 0;
  std::string line;  ///< newline included, as all lines made here
};

// What a line means.
struct Answered {
  std::uint64_t id = 0;
  Result<std::string> result;  ///< JSON text
};
struct Notified {
  std::string method;
  std::string params;
};
struct Asked {
  std::string id;  ///< raw JSON
  std::string method;
  std::string params;
};
/// An error that names no call (the daemon could not read a line of ours): all open calls fail,
/// since one of them will never be answered.
struct FailedUnnamed {
  Error error;
};
/// A question that is too long to be read: its asker is told so.
struct Refused {
  std::string id;  ///< raw JSON
  Error why;
};
/// The answer to a call that was given up, or a blank line.
struct Ignored {};
using Event = std::variant<Ignored, Answered, Notified, Asked, Refused, FailedUnnamed>;

class Conversation {
 public:
  explicit Conversation(const Limits& limits) : limits_(limits) {}

  /// What the call that is opened next will be named.
  std::uint64_t next_id() const { return next_id_; }

  /// `params` is a JSON object; white space between its parts may hold newlines.
  Result<OpenedCall> open(std::string_view method, std::string_view params);
  Result<std::string> notify(std::string_view method, std::string_view params) const;
  /// `id` is raw JSON.
  Result<std::string> answer(std::string_view id, const Result<std::string>& result) const;

  /// `line` as LineSplitter gives it: without newline, with readable padding behind it. An error
  /// means that the other side does not speak the protocol and the connection is of no more use.
  Result<Event> receive(std::string_view line);

  /// The meaning of a line that is too long to be read: a failed call of ours (`too_large`), a
  /// question of the server (a Refused), or nullopt if neither can be told.
  std::optional<Event> skipped(const LongLine& line);

  /// The caller no longer waits. Gives the line that tells the server, if it is to be told.
  std::optional<std::string> give_up(std::uint64_t id, std::string_view reason);

  /// Ends all open calls and names them.
  std::vector<std::uint64_t> give_up_all();

 private:
  enum class Cancellable : std::uint8_t { no, yes };

  Event answered(std::string_view line, const Message& message);

  Limits limits_;
  MessageScanner scanner_;
  std::map<std::uint64_t, Cancellable> open_;
  std::uint64_t next_id_ = 1;
};

}  // namespace cellblock::client
