#include "supervisor/gateway/aggregate/aggregate_streams.h"

#include <algorithm>
#include <utility>

#include "policy/jsonrpc/message_edit.h"
#include "policy/mcp/methods.h"
#include "policy/mcp/protocol_words.h"
#include "supervisor/gateway/aggregate/members.h"
#include "supervisor/gateway/aggregate/public_name.h"
#include "supervisor/gateway/aggregate/request_route.h"
#include "supervisor/gateway/message/calls_in_flight.h"
#include "supervisor/gateway/message/replies.h"

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

void add_resource(StreamFilter& filter, const Members& members, MergedLists& merged,
                  const std::string& shown, Knowledge knowledge, ResourceRoutes::Effort& effort) {
  using Certainty = ResourceRoutes::Certainty;
  const auto certainty = knowledge == Knowledge::grows ? Certainty::certain : Certainty::guess;
  auto route = merged.routes().find(shown, certainty, effort);
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

StreamFilter read_filter(std::string_view params, const Members& members, MergedLists& merged,
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
    add_resource(filter, members, merged, uri, knowledge, effort);
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

namespace {

// Templates have no notification of their own: they are resources.
std::vector<ListKind> changed_lists(std::string_view method) {
  const auto kind = mcp::changed_list(method);
  if (!kind) return {};
  if (*kind == ListKind::resources) return {ListKind::resources, ListKind::resource_templates};
  return {*kind};
}

}  // namespace

// --- the host ------------------------------------------------------------------------------------

AggregateStreams::Taken AggregateStreams::listen(std::string_view line, const Message& message,
                                                 Knowledge knowledge) {
  StreamFilter filter = read_filter(message.params.in(line), members_, merged_, knowledge);
  if (!filter.all_found && knowledge == Knowledge::grows) return Taken::not_yet;
  const std::string caller_id(message.id.in(line));
  const auto& stream =
      host_.emplace(caller_id, HostStream{meta_of(line, message), std::move(filter)}).first->second;
  tell(caller_id, mcp::notification::acknowledged,
       "\"notifications\":" + honoured(stream.filter) + ",");
  for (const std::uint32_t server : members_.all()) {
    if (running_.contains(server) || stream.filter.needs(server))
      open(server, caller_id, Again::no);
  }
  return Taken::yes;
}

bool AggregateStreams::cancel(std::string_view caller_id, std::string_view reason) {
  const std::string id(caller_id);
  if (host_.erase(id) == 0) return false;
  ServerStreams ended;
  std::erase_if(server_routes_, [&](const auto& entry) {
    return entry.second.caller_id == id && ended.insert(entry).second;
  });
  for (const auto& [own_id, stream] : ended) {
    send_to_server(effects_, stream.server, cancelled_notification(own_id, reason));
  }
  return true;
}

void AggregateStreams::tell(const std::string& caller_id, std::string_view method,
                            std::string_view members) {
  reply_to_host(effects_, R"({"jsonrpc":"2.0","method":")" + std::string(method) +
                              R"(","params":{)" + std::string(members) + R"("_meta":{")" +
                              mcp::meta_key::subscription + R"(":)" + caller_id + "}}}");
}

void AggregateStreams::tell_changed(ListKind kind) {
  for (const auto& [caller_id, stream] : host_) {
    if (stream.filter.wants(kind)) tell(caller_id, mcp::change_of(kind).notification, "");
  }
}

bool AggregateStreams::hears(ListKind kind) const {
  return std::ranges::any_of(
      host_, [kind](const auto& stream) { return stream.second.filter.wants(kind); });
}

void AggregateStreams::fail_all(const Failure& failure) {
  server_routes_.clear();
  for (const auto& [caller_id, stream] : std::exchange(host_, {})) {
    reply_to_host(effects_, error_reply(caller_id, failure));
  }
}

void AggregateStreams::cancel_all(std::string_view reason) {
  while (!host_.empty()) cancel(std::string(host_.begin()->first), reason);
}

// --- the server routes ---------------------------------------------------------------------------

// In the table before it goes out: the server route may answer at once.
void AggregateStreams::open(std::uint32_t server, const std::string& caller_id, Again again) {
  const auto stream = host_.find(caller_id);
  if (stream == host_.end()) return;
  const std::uint64_t own_id = ids_.next();
  const std::string text = R"({"jsonrpc":"2.0","id":)" + std::to_string(own_id) + R"(,"method":")" +
                           std::string(mcp::method::listen) + R"(","params":{"_meta":)" +
                           stream->second.meta + R"(,"notifications":)" +
                           part_of(stream->second.filter, server) + "}}";
  server_routes_.emplace(own_id, ServerStream{server, caller_id, again});
  send_to_server(effects_, server, text);
}

bool AggregateStreams::has_stream(std::uint32_t server, std::string_view caller_id) const {
  for (const auto& [own_id, stream] : server_routes_) {
    if (stream.server == server && stream.caller_id == caller_id) return true;
  }
  return false;
}

AggregateStreams::ServerStreams::iterator AggregateStreams::find(std::uint32_t server,
                                                                 std::string_view own_id) {
  const auto found = server_routes_.find(parse_upstream_id(own_id));
  return found != server_routes_.end() && found->second.server == server ? found
                                                                         : server_routes_.end();
}

// One that waits for this very start is open already.
AggregateStreams::Again AggregateStreams::route_started(std::uint32_t server) {
  running_.insert(server);
  const Again again = lost_.erase(server) > 0 ? Again::yes : Again::no;
  std::vector<std::string> ids;
  for (const auto& [caller_id, stream] : host_) {
    if (!has_stream(server, caller_id)) ids.push_back(caller_id);
  }
  for (const std::string& caller_id : ids) open(server, caller_id, again);
  return again;
}

void AggregateStreams::route_failed(std::uint32_t server) {
  const bool ran = running_.erase(server) > 0;
  const auto ended = std::erase_if(
      server_routes_, [&](const auto& entry) { return entry.second.server == server; });
  if (ran && ended > 0) lost_.insert(server);
}

// Whether it ended well or badly: it is opened again in the server route's next cell.
bool AggregateStreams::answer(std::uint32_t server, std::string_view own_id) {
  const auto stream = find(server, own_id);
  if (stream == server_routes_.end()) return false;
  server_routes_.erase(stream);
  return true;
}

std::vector<ListKind> AggregateStreams::notification(std::uint32_t server, std::string_view line,
                                                     const Message& message) {
  if (message.method == mcp::notification::cancelled) {
    answer(server, message.request_id.in(line));
    return {};
  }
  const auto stream = find(server, message.subscription_id.in(line));
  if (stream == server_routes_.end()) return {};
  if (message.method == mcp::notification::acknowledged) acknowledged(stream->second);
  if (message.method == mcp::notification::resource_updated) updated(line, message, stream->second);
  if (message.method == mcp::notification::tasks) task_news(line, message, stream->second);
  return changed_lists(message.method);
}

// What was subscribed to may have changed while nobody watched it.
void AggregateStreams::acknowledged(ServerStream& stream) {
  const auto host = host_.find(stream.caller_id);
  if (std::exchange(stream.again, Again::no) == Again::no || host == host_.end()) return;
  for (const WantedResource& wanted : host->second.filter.uris) {
    if (wanted.server != stream.server) continue;
    tell(stream.caller_id, mcp::notification::resource_updated,
         "\"uri\":" + json_string(wanted.shown) + ",");
  }
}

// It may be of a part of what was subscribed to, so it is shown as any other URI of that server.
void AggregateStreams::updated(std::string_view line, const Message& message,
                               const ServerStream& stream) {
  if (message.uri.empty()) return;
  const std::string uri = text_from(message.uri.in(line));
  std::string shown = merged_.routes().mention(stream.server, uri);
  if (const auto host = host_.find(stream.caller_id); host != host_.end()) {
    for (const WantedResource& wanted : host->second.filter.uris) {
      if (wanted.server == stream.server && wanted.uri == uri) shown = wanted.shown;
    }
  }
  const EditedMessage edited(
      line, {{message.uri, json_string(shown)}, {message.subscription_id, stream.caller_id}});
  effects_.to_host(edited.slices());
}

void AggregateStreams::task_news(std::string_view line, const Message& message,
                                 const ServerStream& stream) {
  std::vector<Replacement> edits = show_task_ids(line, message, members_.name(stream.server));
  edits.push_back({message.subscription_id, stream.caller_id});
  effects_.to_host(EditedMessage(line, std::move(edits)).slices());
}

}  // namespace cellblock::gateway
