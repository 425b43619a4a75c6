#include "supervisor/gateway/upstream/answer_edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "policy/mcp/methods.h"
#include "supervisor/gateway/checks/clean_answer.h"
#include "supervisor/gateway/checks/list_pages.h"

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

/// Who is shown which items of the list that is looked at.
class Viewer {
 public:
  Viewer(ListKind list, const Rights& rights, PinGate& pins)
      : list_(list), kind_(access_kind(list)), rights_(rights), pins_(pins) {}

  bool shows(std::string_view name) const {
    return rights_.shows(kind_, name) && pins_.admits(list_, name);
  }

  void see(const nlohmann::ordered_json& items, bool is_last_page) {
    pins_.see(list_, items, is_last_page ? PageEnd::last : PageEnd::more);
    withholds_ = std::ranges::any_of(items, [this](const auto& item) {
      const auto name = item.find(mcp::facts_of(list_).identity);
      return name == item.end() || !name->is_string() ||
             !pins_.admits(list_, name->template get_ref<const std::string&>());
    });
  }

  bool shows_all() const { return rights_.shows_all(kind_) && !withholds_; }

 private:
  const ListKind list_;
  const AccessKind kind_;
  const Rights& rights_;
  PinGate& pins_;
  bool withholds_ = false;
};

// Where there is nothing to clean, tools are left out in place; few servers list so much else that
// this matters.
std::vector<Replacement> list_edits(std::string_view line, const Message& message, ListKind list,
                                    Viewer viewer, Findings& findings) {
  const std::string_view result = message.result.in(line);
  const auto shows = [&](std::string_view name) { return viewer.shows(name); };
  auto shown = cleaned_list(list, result, shows, findings,
                            [&](const nlohmann::ordered_json& items, bool is_last_page) {
                              viewer.see(items, is_last_page);
                            });
  if (!shown && viewer.shows_all()) return {};
  if (!shown && list == ListKind::tools) return narrow_tools(line, message, shows);
  if (!shown) shown = narrowed_list(list, result, shows);
  if (!shown) return {};
  return {{message.result, std::move(*shown)}};
}

}  // namespace

std::vector<Replacement> answer_edits(std::string_view line, const Message& message,
                                      const Call& call, const Rights& rights, PinGate& pins,
                                      Findings& findings) {
  if (message.kind != MessageKind::result) return {};
  if (const auto list = list_of(call.kind)) {
    return list_edits(line, message, *list, Viewer(*list, rights, pins), findings);
  }
  if (call.kind != CallKind::initialize && call.kind != CallKind::discover) return {};
  auto cleaned = cleaned_introduction(message.result.in(line), findings);
  if (!cleaned) return {};
  return {{message.result, std::move(*cleaned)}};
}

AuditNote metadata_note(const Call& call, std::size_t bytes) {
  return {.kind = wire::AuditKind::refused,
          .outcome = wire::AuditOutcome::denied,
          .tool = {},
          .reason = "metadata",
          .call = call.own_id,
          .bytes = bytes};
}

void say_who_asks(std::string_view line, const Message& message, std::string_view server,
                  std::vector<Replacement>& edits) {
  const std::string prefix = fmt::format("[server {}] ", server);  // no character needs an escape
  for (const Span& question : message.questions) {
    const std::uint32_t begin = question.begin + 1;  // after the quote
    if (!line.substr(begin).starts_with(prefix)) edits.push_back({{begin, begin}, prefix});
  }
}

}  // namespace cellblock::gateway
