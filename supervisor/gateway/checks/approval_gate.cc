#include "supervisor/gateway/checks/approval_gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "policy/approvals/approvals.h"
#include "policy/base/printable.h"
#include "policy/json/json_text.h"
#include "policy/mcp/methods.h"
#include "supervisor/gateway/message/session_failures.h"

namespace cellblock::gateway {
namespace {

constexpr std::array held = {mcp::method::tools_call, mcp::method::prompts_get,
                             mcp::method::resources_read};
constexpr std::size_t widest = 8;  // bytes that one byte may need to be shown

std::string_view member_of(std::string_view object, std::string_view name) {
  const auto members = raw_members(object);
  const RawMember* found = members ? find_member(*members, name) : nullptr;
  return found == nullptr ? std::string_view{} : found->value;
}

// Of the text that goes to the server, not of what the host wrote: something may have been taken
// out of it.
std::string_view params_in(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  return member_of(text, "params");
}

// All of it, whatever its name: what is not shown is not approved.
std::string members_text(std::string_view params) {
  const auto members = raw_members(params);
  if (!members) return "\n" + printable(params, params.size() * widest);
  std::string text;
  for (const RawMember& member : *members) {
    text += fmt::format("\n{}: {}", printable(member.name, member.name.size() * widest),
                        printable(member.value, member.value.size() * widest));
  }
  return text;
}

}  // namespace

bool may_wait_for_approval(std::string_view method) {
  return std::ranges::find(held, method) != held.end();
}

std::expected<Approval, Failure> ask_for(const Asker& asker, const AskedCall& call) {
  const std::string_view params = params_in(call.text);
  ApprovalRequest request{.session = asker.session,
                          .cell = asker.cell,
                          .server = asker.server_index,
                          .pid = asker.pid,
                          .method = std::string(call.method),
                          .name = call.name,
                          .arguments = std::string(member_of(params, "arguments")),
                          .params = std::string(params),
                          .rule = call.rule.name,
                          .approver = call.rule.approver,
                          .time = call.rule.approval_time};
  auto asked = asker.approvals.ask(std::move(request), call.waiter, call.now);
  if (asked) return std::move(*asked);
  Failure failure =
      plain_failure(FailureCode::approval_required, text_of(asked.error()), asker.server.name);
  if (asked.error().retry_after.count() > 0) failure.retry_after = asked.error().retry_after;
  return std::unexpected(std::move(failure));
}

Failure not_approved(const Approval& approval, const Server& server) {
  const std::string& rule = approval.entry().request.rule;
  return plain_failure(
      FailureCode::approval_required,
      approval.is_denied()
          ? fmt::format("this needs an approval ({}), and was denied", rule)
          : fmt::format("this needs an approval ({}), and nobody gave one in time", rule),
      server.name);
}

std::string outcome_of(const Approval& approval) {
  if (approval.waits()) return "expired";
  const std::string_view word = approval.is_denied() ? "denied" : "allowed";
  if (approval.entry().by == by_host) return fmt::format("{} by the host", word);
  if (approval.entry().is_beforehand) {
    return fmt::format("allowed beforehand by uid {}", approval.entry().by);
  }
  return fmt::format("{} by uid {}", word, approval.entry().by);
}

Failure changed_since_asked(const Message& request, const Server& server) {
  return plain_failure(FailureCode::quarantined,
                       fmt::format("the definition of \"{}\" has changed while its call waited for "
                                   "an approval",
                                   printable(request.name_text)),
                       server.name);
}

Failure asked_otherwise(const Server& server) {
  return plain_failure(FailureCode::approval_required,
                       "what the rules say of this has changed while it waited, so nobody's word "
                       "is good for it",
                       server.name);
}

Failure redacted_otherwise(const Server& server) {
  return plain_failure(
      FailureCode::blocked,
      "what may not be sent to this server has changed while it waited: call again", server.name);
}

Failure nobody_to_ask(const Rule& rule, const Server& server, Era era) {
  const std::string_view why =
      era == Era::modern ? "of a server that speaks MCP 2026-07-28 he cannot be asked yet"
                         : "he cannot be asked, since his host has not declared elicitation";
  return plain_failure(
      FailureCode::approval_required,
      fmt::format(
          "this needs an approval of the user ({}), and {}; an administrator could be asked "
          "instead (approver = \"admin\" in that rule)",
          rule.name, why),
      server.name);
}

std::string question_text(const Approval& approval, const Server& server) {
  const ApprovalRequest& request = approval.entry().request;
  return fmt::format("{}[server {}] {} {}{}", approval_question::beginning, server.name,
                     request.method, printable(request.name), members_text(request.params));
}

}  // namespace cellblock::gateway
