#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/config/config.h"
#include "policy/failures/failure.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "policy/jsonrpc/message_edit.h"
#include "supervisor/gateway/checks/redactions.h"

namespace cellblock::gateway {

/// Looks at every message between one host and one server.
class RedactionGate {
 public:
  /// What it is given outlives it.
  RedactionGate(Redactions& redactions, std::uint32_t server_index, const Server& server)
      : redactions_(redactions), server_index_(server_index), server_(server) {}

  /// Adds to `edits`, which are what is done to the line so far: ids and values that are replaced
  /// anyway, texts that were written anew. With an error, the message does not pass.
  std::expected<void, Failure> pass(Direction direction, std::string_view line,
                                    const Message& message, std::vector<Replacement>& edits);

  /// A text of the server's that is no message's, and is told to somebody.
  std::string clean(std::string_view text) { return redactions_.clean(server_index_, text); }

  /// Redactions::revision().
  std::uint64_t revision() { return redactions_.revision(server_index_); }

  /// What was found since it was last asked.
  FoundCounts take_found() { return std::exchange(found_, {}); }

 private:
  Failure failure(Direction direction, std::string_view what) const;
  bool may_be_called(Direction direction, std::string_view method, const Redactor& redactor);
  bool note(Direction direction, const Redaction& made);

  Redactions& redactions_;
  const std::uint32_t server_index_;
  const Server& server_;
  FoundCounts found_;
};

}  // namespace cellblock::gateway
