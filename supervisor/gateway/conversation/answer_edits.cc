#include "supervisor/gateway/conversation/answer_edits.h"

#include <optional>
#include <string>
#include <utility>

#include "supervisor/gateway/catalogue/clean_answer.h"
#include "supervisor/gateway/policy/list_access.h"

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

namespace {

// Where there is nothing to clean, tools are left out in place; few servers list so much else that
// this matters.
std::optional<std::string> shown_list(ListKind list, std::string_view result, const Rights& rights,
                                      Findings& findings) {
  const AccessKind kind = access_kind(list);
  const auto shows = [&](std::string_view name) { return rights.shows(kind, name); };
  auto cleaned = cleaned_list(list, result, shows, findings);
  if (cleaned || list == ListKind::tools || rights.shows_all(kind)) return cleaned;
  return narrowed_list(list, result, shows);
}

}  // namespace

std::vector<Replacement> answer_edits(std::string_view line, const Message& message,
                                      const Call& call, const Rights& rights, Findings& findings) {
  if (message.kind != MessageKind::result) return {};
  const std::string_view result = message.result.in(line);
  std::optional<std::string> cleaned;
  if (const auto list = list_of(call.kind)) {
    cleaned = shown_list(*list, result, rights, findings);
  } else if (call.kind == CallKind::initialize || call.kind == CallKind::discover) {
    cleaned = cleaned_introduction(result, findings);
  }
  if (cleaned) return {{message.result, std::move(*cleaned)}};
  if (call.kind != CallKind::tools_list || rights.shows_all(AccessKind::tool)) return {};
  return narrow_tools(line, message,
                      [&](std::string_view tool) { return rights.shows(AccessKind::tool, tool); });
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
