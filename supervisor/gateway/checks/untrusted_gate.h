#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/config/config.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "policy/jsonrpc/message_edit.h"
#include "policy/redaction/redactor.h"
#include "policy/untrusted/untrusted_result.h"
#include "supervisor/gateway/checks/redaction_gate.h"
#include "supervisor/gateway/message/calls_in_flight.h"

/// Marks or strips (untrusted_text.h) results of tools with the label `untrusted`, as
/// `results.untrusted` says. Pure. See docs/results.md.
namespace cellblock::gateway {

class UntrustedGate {
 public:
  /// What it is given outlives it. `redactions` has the counts of what was found.
  UntrustedGate(Redactions& redactions, std::uint32_t server_index, const Server& server)
      : redactions_(redactions), server_index_(server_index), server_(server) {}

  /// If something is found, replaces the edits inside the result or error by one edit of the whole.
  void mark_answer(std::string_view line, const Message& message, const Call& call,
                   std::vector<Replacement>& edits);
  /// As mark_answer(), for the state of a task. `tool`: whose call made the task; empty: not known,
  /// so the strictest setting of the server and its tools holds.
  void mark_task(std::string_view line, Span state, std::string_view tool,
                 std::vector<Replacement>& edits);

  /// What was marked or taken out since it was last asked.
  FoundCounts take_found() { return std::exchange(found_, {}); }

 private:
  struct Part {
    std::string_view line;
    Span where;
    MarkNote note;
  };
  void mark(const Part& part, UntrustedText how, std::vector<Replacement>& edits);
  std::string redacted_again(std::string_view text);
  UntrustedText how_for(const Call& call) const;
  UntrustedText how_for_tool(std::string_view tool) const;
  UntrustedText how_for_content() const;
  UntrustedText how_for_task(std::string_view tool) const;
  void count(const MarkCounts& counts);

  Redactions& redactions_;
  const std::uint32_t server_index_;
  const Server& server_;
  FoundCounts found_;
};

}  // namespace cellblock::gateway
