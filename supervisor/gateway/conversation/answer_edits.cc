#include "supervisor/gateway/conversation/answer_edits.h"

#include <optional>
#include <string>
#include <utility>

#include "supervisor/gateway/catalogue/clean_answer.h"

namespace cellblock::gateway {

std::optional<ListKind> list_of(CallKind kind) {
  switch (kind) {
    case CallKind::tools_list:
      return ListKind::tools;
    case CallKind::resources_list:
      return ListKind::resources;
    case CallKind::templates_list:
      return ListKind::resource_templates;
    case CallKind::prompts_list:
      return ListKind::prompts;
    default:
      return std::nullopt;
  }
}

std::vector<Replacement> answer_edits(std::string_view line, const Message& message,
                                      const Call& call,
                                      const std::function<bool(std::string_view tool)>& may_call,
                                      Findings& findings) {
  if (message.kind != MessageKind::result) return {};
  const std::string_view result = message.result.in(line);
  std::optional<std::string> cleaned;
  if (const auto list = list_of(call.kind)) {
    cleaned = cleaned_list(*list, result, may_call, findings);
  } else if (call.kind == CallKind::initialize || call.kind == CallKind::discover) {
    cleaned = cleaned_introduction(result, findings);
  }
  if (cleaned) return {{message.result, std::move(*cleaned)}};
  if (call.kind == CallKind::tools_list) return narrow_tools(line, message, may_call);
  return {};
}

AuditNote metadata_note(const Call& call, std::size_t bytes) {
  return {.kind = wire::AuditKind::refused,
          .outcome = wire::AuditOutcome::denied,
          .tool = {},
          .reason = "metadata",
          .call = call.ours,
          .bytes = bytes};
}

}  // namespace cellblock::gateway
