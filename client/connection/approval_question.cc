#include "client/connection/approval_question.h"

#include "client/connection/host_permissions.h"
#include "client/connection/raw_member.h"
#include "policy/approvals/approval_question.h"
#include "policy/json/json_text.h"
#include "policy/mcp/methods.h"

namespace cellblock::client {

std::optional<ApprovalQuestion> read_question(std::string_view method, std::string_view params) {
  if (method != mcp::method::elicitation_create) return std::nullopt;
  auto message = decoded(raw_member(params, "message"));
  if (!message.starts_with(approval_question::beginning)) return std::nullopt;
  const auto about = raw_member(raw_member(params, "_meta"), approval_question::meta_key);
  const auto text = [&](std::string_view name) { return decoded(raw_member(about, name)); };
  ApprovalQuestion question{.call = {.server = text("server"),
                                     .kind = kind_of(text("method")),
                                     .method = text("method"),
                                     .name = text("name"),
                                     .arguments = text("arguments"),
                                     .params = text("params"),
                                     .reason = std::move(message)},
                            .call_id = std::string(raw_member(about, "id"))};
  return question;
}

std::string question_answer(Verdict verdict) {
  return verdict == Verdict::allow ? R"({"action":"accept","content":{"allow":true}})"
                                   : R"({"action":"decline"})";
}

std::string with_elicitation(const std::string& capabilities) {
  if (!raw_member(capabilities, "elicitation").empty()) return capabilities;
  return with_first_member(capabilities, capabilities.find('{'), R"("elicitation":{})");
}

}  // namespace cellblock::client
