#pragma once

#include <array>
#include <string_view>

#include "supervisor/gateway/era/json_tree.h"

/// What a server may announce of its lists, in the words of each place that speaks of it: the
/// capability that promises it, what a modern host asks to hear, the notification.
namespace cellblock::gateway {

struct ListChange {
  const char* capability;
  const char* wanted;
  std::string_view method;
};

inline constexpr std::array<ListChange, 3> list_changes{{
    {"tools", "toolsListChanged", "notifications/tools/list_changed"},
    {"prompts", "promptsListChanged", "notifications/prompts/list_changed"},
    {"resources", "resourcesListChanged", "notifications/resources/list_changed"},
}};

/// Whether the capability `kind` says `what` ("listChanged", "subscribe").
inline bool offers(const Json& capabilities, const char* kind, const char* what) {
  const Json* found = object_in(capabilities, kind);
  return found != nullptr && says(*found, what);
}

}  // namespace cellblock::gateway
