#include "supervisor/gateway/aggregate/stream_filter.h"

#include <algorithm>
#include <utility>

#include "policy/mcp/lists.h"
#include "supervisor/gateway/aggregate/json_text.h"
#include "supervisor/gateway/aggregate/task_names.h"

namespace cellblock::gateway {
namespace {

bool flag(const Json& object, const char* name) {
  const Json* value = member(object, name);
  return value != nullptr && *value == true;
}

std::vector<std::string> texts(const Json& object, const char* name) {
  std::vector<std::string> all;
  const Json* list = member(object, name);
  if (list == nullptr || !list->is_array()) return all;
  for (const Json& one : *list) {
    if (one.is_string() && all.size() < max_stream_resources) all.push_back(one.get<std::string>());
  }
  return all;
}

void add_resource(StreamFilter& filter, const Members& members, MergedLists& assortment,
                  const std::string& shown, Knowledge knowledge, ResourceRoutes::Effort& effort) {
  using Certainty = ResourceRoutes::Certainty;
  const auto certainty = knowledge == Knowledge::grows ? Certainty::certain : Certainty::guess;
  auto route = assortment.routes().find(shown, certainty, effort);
  if (!route) {
    filter.all_found = false;
    return;
  }
  if (!members.rights(route->server).shows(AccessKind::resource, route->uri)) return;
  filter.uris.push_back({route->server, std::move(route->uri), shown});
}

Json flags_of(const StreamFilter& filter) {
  Json json = Json::object();
  if (filter.tools) json[mcp::change_of(ListKind::tools).wanted] = true;
  if (filter.prompts) json[mcp::change_of(ListKind::prompts).wanted] = true;
  if (filter.resources) json[mcp::change_of(ListKind::resources).wanted] = true;
  return json;
}

}  // namespace

bool StreamFilter::wants(ListKind kind) const {
  switch (kind) {
    case ListKind::tools:
      return tools;
    case ListKind::prompts:
      return prompts;
    case ListKind::resources:
    case ListKind::resource_templates:
      break;
  }
  return resources;
}

bool StreamFilter::needs(std::uint32_t server) const {
  const auto is_its = [server](const auto& wanted) { return wanted.server == server; };
  return std::ranges::any_of(uris, is_its) || std::ranges::any_of(tasks, is_its);
}

StreamFilter read_filter(std::string_view params, const Members& members, MergedLists& assortment,
                         Knowledge knowledge) {
  const Json json = parse_json(params);
  const Json* wanted = member(json, "notifications");
  StreamFilter filter;
  if (wanted == nullptr) return filter;
  filter.tools = flag(*wanted, mcp::change_of(ListKind::tools).wanted);
  filter.prompts = flag(*wanted, mcp::change_of(ListKind::prompts).wanted);
  filter.resources = flag(*wanted, mcp::change_of(ListKind::resources).wanted);
  ResourceRoutes::Effort effort;
  for (const std::string& uri : texts(*wanted, "resourceSubscriptions")) {
    add_resource(filter, members, assortment, uri, knowledge, effort);
  }
  for (const std::string& shown : texts(*wanted, "taskIds")) {
    auto route = find_task(members, json_string(shown));
    if (route) filter.tasks.push_back({route->server, std::move(route->id), shown});
  }
  return filter;
}

std::string honoured(const StreamFilter& filter) {
  Json json = flags_of(filter);
  for (const auto& wanted : filter.uris) json["resourceSubscriptions"].push_back(wanted.shown);
  for (const auto& wanted : filter.tasks) json["taskIds"].push_back(wanted.shown);
  return text_of(json);
}

std::string part_of(const StreamFilter& filter, std::uint32_t server) {
  Json json = flags_of(filter);
  for (const auto& wanted : filter.uris) {
    if (wanted.server == server) json["resourceSubscriptions"].push_back(wanted.uri);
  }
  for (const auto& wanted : filter.tasks) {
    if (wanted.server == server) json["taskIds"].push_back(wanted.id);
  }
  return text_of(json);
}

}  // namespace cellblock::gateway
