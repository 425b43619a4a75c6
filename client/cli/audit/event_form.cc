#include "client/cli/audit/event_form.h"

#include <algorithm>
#include <array>

namespace cellblock::cli {
namespace {

struct NamedForm {
  std::string_view name;
  EventForm form;
};
constexpr std::array event_forms{NamedForm{"ecs", ecs_event}, NamedForm{"ocsf", ocsf_event},
                                 NamedForm{"cef", cef_event}};

}  // namespace

EventForm event_form(std::string_view name) {
  const auto* const found = std::ranges::find(event_forms, name, &NamedForm::name);
  return found == event_forms.end() ? nullptr : found->form;
}

std::vector<std::string> event_form_names() {
  std::vector<std::string> names;
  names.reserve(event_forms.size());
  for (const NamedForm& form : event_forms) names.emplace_back(form.name);
  return names;
}

}  // namespace cellblock::cli
