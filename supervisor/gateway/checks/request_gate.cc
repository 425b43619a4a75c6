#include "supervisor/gateway/checks/request_gate.h"

#include <algorithm>
#include <array>
#include <utility>

#include "policy/mcp/methods.h"
#include "policy/rates/rate_text.h"
#include "supervisor/gateway/message/session_failures.h"

namespace cellblock::gateway {
namespace {

// What makes a server work. Lists, subscriptions and questions about tasks are bounded by how many
// requests one session may have in flight.
constexpr std::array counted = {mcp::method::tools_call, mcp::method::prompts_get,
                                mcp::method::resources_read, mcp::method::complete};

bool is_counted(std::string_view method) { return std::ranges::count(counted, method) != 0; }

}  // namespace

// Each stage is a class of its own, asked in one line. The order is forced: what is not pinned has
// no schema to hold arguments to; what is validated is what the host wrote, and what is redacted is
// valid; what is refused for its content has not used up anybody's rate; and nobody is asked, and
// nothing is recorded, about a call that would not have been made anyway.
//
// Pins have been asked before (pin_gate.h): what no pin knows is answered as what no rule gives.
//
//   pins -> arguments -> redaction -> rates -> (upstream: ask, record, send)
std::expected<AdmittedRequest, Failure> RequestGate::pass(const HostRequest& request) {
  AdmittedRequest passage;
  if (auto failure = parts_.pins.refuse_arguments(request.line, request.message)) {
    return std::unexpected(*std::move(failure));
  }
  auto redacted =
      redaction_.pass(Direction::to_server, request.line, request.message, passage.edits);
  if (!redacted) return std::unexpected(std::move(redacted.error()));
  auto place = place_for(request);
  if (!place) return std::unexpected(std::move(place.error()));
  passage.place = std::move(*place);
  return passage;
}

std::expected<CallSlot, Failure> RequestGate::place_for(const HostRequest& request) {
  const std::string_view method = request.message.method;
  if (!is_counted(method)) return CallSlot();
  const bool is_tool = method == mcp::method::tools_call;
  const CallSlots::Wanted wanted{
      .session = parts_.session,
      .server = parts_.server_index,
      .tool = is_tool ? std::string_view(request.message.name_text) : std::string_view{}};
  auto place = parts_.policy.places.take(wanted, request.waiter, request.now);
  if (!place) return std::unexpected(busy_failure(place.error(), parts_.server, wanted.tool));
  return std::move(*place);
}

std::expected<Approval, Failure> RequestGate::ask(const AskedCall& call) {
  return ask_for({.server = parts_.server,
                  .approvals = parts_.policy.approvals,
                  .server_index = parts_.server_index,
                  .session = parts_.session,
                  .cell = parts_.cell},
                 call);
}

void RequestGate::answered_by_host(const Approval& approval, Approvals::Word word, Time now) {
  parts_.policy.approvals.decide(approval.entry().number, word, by_host, now);
}

Failure busy_failure(const Busy& busy, const Server& server, std::string_view tool) {
  Failure failure =
      plain_failure(FailureCode::rate_limited, busy_text(busy, server.name, tool), server.name);
  failure.retry_after = busy.retry_after;
  return failure;
}

}  // namespace cellblock::gateway
