#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "policy/mcp/methods.h"

/// The four lists of what a server offers, in the words of each place that speaks of them.
namespace cellblock::mcp {

enum class ListKind : std::uint8_t { tools, resources, resource_templates, prompts };
inline constexpr std::size_t list_kind_count = 4;

struct List {
  ListKind kind{};
  std::string_view method;
  const char* items;     ///< the member of its result
  const char* identity;  ///< of an item: what it is called by
};

/// In the order of ListKind.
inline constexpr std::array<List, list_kind_count> lists{{
    {ListKind::tools, method::tools_list, "tools", "name"},
    {ListKind::resources, method::resources_list, "resources", "uri"},
    {ListKind::resource_templates, method::templates_list, "resourceTemplates", "uriTemplate"},
    {ListKind::prompts, method::prompts_list, "prompts", "name"},
}};

constexpr const List& facts_of(ListKind kind) { return lists.at(static_cast<std::size_t>(kind)); }

/// Nothing: another method.
constexpr std::optional<ListKind> listed_kind(std::string_view method) {
  for (const List& list : lists) {
    if (list.method == method) return list.kind;
  }
  return std::nullopt;
}

/// What a server may announce of its lists. Templates have no notification of their own: they are
/// resources.
struct ListChange {
  ListKind kind{};
  const char* capability;  ///< promises it, with `listChanged`
  const char* wanted;      ///< a modern host asks for it so
  std::string_view notification;
};

inline constexpr std::array<ListChange, 3> list_changes{{
    {ListKind::tools, "tools", "toolsListChanged", notification::tools_changed},
    {ListKind::prompts, "prompts", "promptsListChanged", notification::prompts_changed},
    {ListKind::resources, "resources", "resourcesListChanged", notification::resources_changed},
}};

/// Of templates: that of resources.
constexpr const ListChange& change_of(ListKind kind) {
  const ListKind told = kind == ListKind::resource_templates ? ListKind::resources : kind;
  return *std::ranges::find(list_changes, told, &ListChange::kind);
}

/// Nothing: another notification.
constexpr std::optional<ListKind> changed_list(std::string_view notification) {
  for (const ListChange& change : list_changes) {
    if (change.notification == notification) return change.kind;
  }
  return std::nullopt;
}

}  // namespace cellblock::mcp
