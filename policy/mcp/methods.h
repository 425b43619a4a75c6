#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

/// The methods of MCP, all of them, of both eras: who says what, and which feature it belongs to.
/// A method that is not here is none of MCP's.
namespace cellblock::mcp {

namespace method {
inline constexpr std::string_view initialize = "initialize";
inline constexpr std::string_view discover = "server/discover";
inline constexpr std::string_view ping = "ping";
inline constexpr std::string_view tools_list = "tools/list";
inline constexpr std::string_view tools_call = "tools/call";
inline constexpr std::string_view resources_list = "resources/list";
inline constexpr std::string_view templates_list = "resources/templates/list";
inline constexpr std::string_view resources_read = "resources/read";
inline constexpr std::string_view resources_subscribe = "resources/subscribe";
inline constexpr std::string_view resources_unsubscribe = "resources/unsubscribe";
inline constexpr std::string_view prompts_list = "prompts/list";
inline constexpr std::string_view prompts_get = "prompts/get";
inline constexpr std::string_view complete = "completion/complete";
inline constexpr std::string_view set_level = "logging/setLevel";
inline constexpr std::string_view listen = "subscriptions/listen";
inline constexpr std::string_view sampling_create = "sampling/createMessage";
inline constexpr std::string_view roots_list = "roots/list";
inline constexpr std::string_view elicitation_create = "elicitation/create";
inline constexpr std::string_view tasks_get = "tasks/get";
inline constexpr std::string_view tasks_result = "tasks/result";
inline constexpr std::string_view tasks_list = "tasks/list";
inline constexpr std::string_view tasks_cancel = "tasks/cancel";
inline constexpr std::string_view tasks_update = "tasks/update";
}  // namespace method

namespace notification {
/// Only a method that begins so is a notification's.
inline constexpr std::string_view prefix = "notifications/";
inline constexpr std::string_view initialized = "notifications/initialized";
inline constexpr std::string_view cancelled = "notifications/cancelled";
inline constexpr std::string_view progress = "notifications/progress";
inline constexpr std::string_view log_message = "notifications/message";
inline constexpr std::string_view tools_changed = "notifications/tools/list_changed";
inline constexpr std::string_view prompts_changed = "notifications/prompts/list_changed";
inline constexpr std::string_view resources_changed = "notifications/resources/list_changed";
inline constexpr std::string_view resource_updated = "notifications/resources/updated";
inline constexpr std::string_view roots_changed = "notifications/roots/list_changed";
inline constexpr std::string_view elicitation_complete = "notifications/elicitation/complete";
inline constexpr std::string_view task_status = "notifications/tasks/status";
inline constexpr std::string_view tasks = "notifications/tasks";
inline constexpr std::string_view acknowledged = "notifications/subscriptions/acknowledged";
}  // namespace notification

enum class MethodKind : std::uint8_t { request, notification };

enum class Feature : std::uint8_t {
  lifecycle,  ///< who is who, and what belongs to any request: progress, cancelling
  tools,
  resources,
  prompts,
  completions,
  logging,
  subscriptions,
  sampling,
  roots,
  elicitation,
  tasks,
};

/// The sender.
enum class From : std::uint8_t {
  nobody,  ///< the era does not have it
  client,
  server,
  both,
  server_in_answer,  ///< among the inputRequests of an answer, never as a message of its own
};

struct Method {
  std::string_view name;
  MethodKind kind{};
  Feature feature{};
  From legacy{};
  From modern{};
};

inline constexpr std::array<Method, 36> methods = [] {
  using enum MethodKind;
  using enum Feature;
  using enum From;
  return std::array<Method, 36>{{
      {method::initialize, request, lifecycle, client, nobody},
      {method::discover, request, lifecycle, nobody, client},
      {method::ping, request, lifecycle, both, nobody},
      {method::tools_list, request, tools, client, client},
      {method::tools_call, request, tools, client, client},
      {method::resources_list, request, resources, client, client},
      {method::templates_list, request, resources, client, client},
      {method::resources_read, request, resources, client, client},
      {method::resources_subscribe, request, resources, client, nobody},
      {method::resources_unsubscribe, request, resources, client, nobody},
      {method::prompts_list, request, prompts, client, client},
      {method::prompts_get, request, prompts, client, client},
      {method::complete, request, completions, client, client},
      {method::set_level, request, logging, client, nobody},
      {method::listen, request, subscriptions, nobody, client},
      {method::sampling_create, request, sampling, server, server_in_answer},
      {method::roots_list, request, roots, server, server_in_answer},
      {method::elicitation_create, request, elicitation, server, server_in_answer},
      {method::tasks_get, request, tasks, both, client},
      {method::tasks_result, request, tasks, both, nobody},
      {method::tasks_list, request, tasks, both, nobody},
      {method::tasks_cancel, request, tasks, both, client},
      {method::tasks_update, request, tasks, nobody, client},

      {notification::initialized, notification, lifecycle, client, nobody},
      // From a modern server it ends a stream, and nothing else.
      {notification::cancelled, notification, lifecycle, both, both},
      {notification::progress, notification, lifecycle, both, server},
      {notification::log_message, notification, logging, server, server},
      {notification::tools_changed, notification, tools, server, server},
      {notification::prompts_changed, notification, prompts, server, server},
      {notification::resources_changed, notification, resources, server, server},
      {notification::resource_updated, notification, resources, server, server},
      {notification::roots_changed, notification, roots, client, nobody},
      {notification::elicitation_complete, notification, elicitation, server, nobody},
      {notification::task_status, notification, tasks, both, nobody},
      {notification::tasks, notification, tasks, nobody, server},
      {notification::acknowledged, notification, subscriptions, nobody, server},
  }};
}();

/// Null: none of MCP's.
constexpr const Method* find_method(std::string_view name) {
  const auto* const found = std::ranges::find(methods, name, &Method::name);
  return found == methods.end() ? nullptr : found;
}

/// What a server asks of the host's client.
constexpr bool is_question(std::string_view name) {
  const Method* method = find_method(name);
  return method != nullptr && method->modern == From::server_in_answer;
}

/// Tasks of 2025-11-25 and of the extension have different shapes and meanings: no bridge carries
/// them.
constexpr bool is_task_request(const Method& method) {
  return method.feature == Feature::tasks && method.kind == MethodKind::request;
}

// The four lists of what a server offers, by each name that MCP has for them.

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

/// Templates change with the resources.
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
