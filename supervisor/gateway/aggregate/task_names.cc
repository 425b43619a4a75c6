#include "supervisor/gateway/aggregate/task_names.h"

#include "supervisor/gateway/aggregate/json_text.h"

namespace cellblock::gateway {

std::vector<Replacement> show_task_ids(std::string_view line, const Message& message,
                                       std::string_view server) {
  std::vector<Replacement> edits;
  for (const Span span : message.task_ids) {
    const std::string id = text_from(span.in(line));
    if (!id.empty()) edits.push_back({span, json_string(std::string(server) + "." + id)});
  }
  return edits;
}

std::optional<TaskRoute> find_task(const Members& members, std::string_view raw) {
  const std::string shown = text_from(raw);
  const std::size_t end = shown.find('.');
  if (end == std::string::npos) return std::nullopt;
  const auto server = members.find(std::string_view(shown).substr(0, end));
  if (!server) return std::nullopt;
  return TaskRoute{*server, shown.substr(end + 1)};
}

}  // namespace cellblock::gateway
