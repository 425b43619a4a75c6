#include "supervisor/gateway/route/server_route.h"

#include <algorithm>
#include <array>
#include <utility>

#include "policy/mcp/methods.h"
#include "policy/mcp/protocol_words.h"
#include "supervisor/gateway/checks/list_pages.h"
#include "supervisor/gateway/message/replies.h"
#include "supervisor/gateway/message/revisions.h"
#include "supervisor/gateway/message/session_failures.h"
#include "supervisor/gateway/translate/modern_results.h"

namespace cellblock::gateway {
namespace {

Json permitted(Json items, ListKind list, const Rights& rights) {
  if (!items.is_array()) return Json::array();
  const AccessKind kind = access_kind(list);
  if (rights.shows_all(kind)) return items;
  Json kept = Json::array();
  for (Json& item : items) {
    if (rights.shows(kind, string_in(item, mcp::facts_of(list).identity)))
      kept.push_back(std::move(item));
  }
  return kept;
}

// As with_reading_tool() does it.
void add_reading_tool(Json& tools) {
  Json kept = Json::array();
  for (Json& tool : tools) {
    if (string_in(tool, "name") != reading_tool_name) kept.push_back(std::move(tool));
  }
  kept.push_back(parse_json(reading_tool()));
  tools = std::move(kept);
}

}  // namespace

std::string discover_reply(std::string_view id, const Catalogue& catalogue) {
  return result_text(
      id, discover_result(parse_json(catalogue.capabilities), parse_json(catalogue.server_info),
                          catalogue.instructions));
}

std::optional<std::string> cached_list(std::string_view line, const Message& message,
                                       const Catalogue& catalogue, const Server& server,
                                       const Rights& rights, ReadingTool reading_tool) {
  const auto kind = mcp::listed_kind(message.method);
  if (!kind || !message.cursor.empty()) return std::nullopt;
  Json items = permitted(parse_json(catalogue.list(*kind)), *kind, rights);
  if (*kind == ListKind::tools && reading_tool == ReadingTool::listed) add_reading_tool(items);
  Json result = Json::object();
  result[mcp::facts_of(*kind).items] = std::move(items);
  result["_meta"][mcp::meta_key::cached]["found_at_ms"] = catalogue.found_at_ms;
  std::string reply = result_text(
      message.id.in(line),
      modern_result(message.method, std::move(result), parse_json(catalogue.server_info)));
  if (reply.size() > server.lines.to_host) return std::nullopt;
  return reply;
}

namespace {

constexpr std::size_t most_discovering = 16;

}  // namespace

ServerRoute::ServerRoute(ServerRouteParts parts, McpServices& services, ServerRouteEffects& above)
    : parts_(parts), server_(parts_.server()), services_(services), above_(above) {}

bool ServerRoute::is_in_flight(std::string_view caller_id) const {
  return std::ranges::find(discovering_, caller_id, &Asked::id) != discovering_.end() ||
         std::ranges::any_of(era_routes_, [&](const auto& era_route) {
           return era_route->is_in_flight(caller_id);
         });
}

std::size_t ServerRoute::in_flight() const {
  std::size_t sum = discovering_.size();
  for (const auto& era_route : era_routes_) sum += era_route->in_flight();
  return sum;
}

std::uint64_t ServerRoute::cell() const {
  std::uint64_t newest = 0;
  for (const auto& era_route : era_routes_) newest = std::max(newest, era_route->cell());
  return newest;
}

Traffic ServerRoute::traffic(std::uint32_t server) const {
  Traffic sum;
  if (server != parts_.plan.server) return sum;
  for (const auto& era_route : era_routes_) sum += era_route->traffic();
  return sum;
}

// --- from above ----------------------------------------------------------------------------------

void ServerRoute::from_host(std::string_view line, const Message& message, Time now) {
  if (answered_here(line, message)) return;
  if (EraRoute* era_route = era_route_for(line, message)) era_route->from_host(line, message, now);
}

EraRoute& ServerRoute::era_route_of(std::optional<Era> host) {
  for (const auto& era_route : era_routes_) {
    if (era_route->host_era() == host) return *era_route;
  }
  for (const auto& era_route : era_routes_) {
    if (era_route->host_era()) continue;
    era_route->claim(*host);
    return *era_route;
  }
  EraRouteEffects& effects = *this;
  era_routes_.push_back(std::make_unique<EraRoute>(parts_, services_, effects));
  if (host) era_routes_.back()->claim(*host);
  return *era_routes_.back();
}

// A request says its era itself. What else a modern host says need not; a cancellation names its
// call, and answers to a server's requests there are in the legacy era alone.
EraRoute* ServerRoute::era_route_for(std::string_view line, const Message& message) {
  if (message.kind == MessageKind::request) return &era_route_of(era_of(message));
  if (message.method == mcp::notification::cancelled) {
    if (EraRoute* era_route = way_of_call(era_routes_, message.request_id.in(line)))
      return era_route;
  }
  if (era_routes_.empty()) return nullptr;
  const bool only_one = era_routes_.size() == 1 && era_routes_.front()->host_era();
  return only_one ? era_routes_.front().get() : &era_route_of(era_of(message));
}

// --- what needs no server ------------------------------------------------------------------------

bool ServerRoute::answered_here(std::string_view line, const Message& message) {
  if (parts_.plan.program == wire::CellProgram::probe) return false;
  if (message.kind == MessageKind::notification) return cancelled_here(line, message);
  if (message.kind != MessageKind::request) return false;
  if (message.method == mcp::method::ping) return answer_ping(line, message);
  if (!message.is_modern()) return false;
  if (message.method == mcp::method::discover) return discover(line, message);
  return message.method.ends_with("/list") && answer_list(line, message);
}

// A legacy server that runs answers for itself: whoever pings wants to know whether it lives.
bool ServerRoute::answer_ping(std::string_view line, const Message& message) {
  const std::string_view id = message.id.in(line);
  if (message.is_modern()) {
    say(protocol_error(id, mcp::method_not_found, "Method not found"));
    return true;
  }
  const bool runs =
      std::ranges::any_of(era_routes_, [](const auto& era_route) { return era_route->has_cell(); });
  if (!runs) say(result_reply(id, "{}"));
  return !runs;
}

bool ServerRoute::answer_list(std::string_view line, const Message& message) {
  if (era_route_of(Era::modern).is_running()) return false;
  const Catalogue* catalogue = services_.catalogues().find(parts_.plan.server);
  if (catalogue == nullptr) return false;
  const auto reply =
      cached_list(line, message, *catalogue, server_, parts_.rights(), parts_.reading_tool);
  // The server itself has it in pages that its reader takes.
  if (!reply || reply->size() > server_.lines.to_host) return false;
  // Without a cell it has no stream, on which it could hear of another list.
  if (message.method == mcp::method::tools_list && parts_.shared.kept != nullptr) {
    parts_.shared.kept->offer().listed_for(ReadingToolOffer::Host::hears_nothing);
  }
  say(*reply);
  return true;
}

bool ServerRoute::discover(std::string_view line, const Message& message) {
  const std::string_view id = message.id.in(line);
  if (const Catalogue* catalogue = services_.catalogues().find(parts_.plan.server)) {
    say(discover_reply(id, *catalogue));
  } else if (discovering_.size() >= most_discovering) {
    say(error_reply(
        id, plain_failure(FailureCode::too_many, "too many wait for this answer", server_.name)));
  } else {
    discovering_.push_back({std::string(id)});
    if (waits_ == 0) {
      waits_ = services_.want_catalogue(
          parts_.plan.server, [this](const Catalogue* found, const Failure& failure, Time now) {
            discovered(found, failure, now);
          });
    }
  }
  return true;
}

void ServerRoute::discovered(const Catalogue* catalogue, const Failure& failure, Time now) {
  waits_ = 0;
  for (const Asked& asked : std::exchange(discovering_, {})) {
    say(catalogue != nullptr ? discover_reply(asked.id, *catalogue)
                             : error_reply(asked.id, failure));
  }
  above_.route_answered(now);
}

bool ServerRoute::cancelled_here(std::string_view line, const Message& message) {
  if (discovering_.empty() || message.method != mcp::notification::cancelled) return false;
  const std::string_view id = message.request_id.in(line);
  return std::erase_if(discovering_, [id](const Asked& asked) { return asked.id == id; }) != 0;
}

void ServerRoute::say(std::string_view text) {
  above_.to_host(std::array<std::string_view, 2>{text, "\n"});
}

// --- the end -------------------------------------------------------------------------------------

void ServerRoute::era_route_lost(const EraRoute& era_route, const Failure& failure, Time now) {
  const bool is_lost = era_route.session_is_in_cell();
  above_.route_lost(
      failure, is_lost ? ServerRouteEffects::After::over : ServerRouteEffects::After::usable, now);
}

bool ServerRoute::renew_server(std::uint32_t server, const Failure& failure, Time now) {
  if (server != parts_.plan.server) return true;
  const bool is_in_cell = std::ranges::any_of(era_routes_, [](const auto& era_route) {
    return era_route->has_cell() && era_route->session_is_in_cell();
  });
  if (is_in_cell) return false;
  for (const auto& era_route : era_routes_) era_route->renew(failure, now);
  return true;
}

void ServerRoute::replace_server(std::uint32_t server, Time now) {
  if (server != parts_.plan.server) return;
  for (const auto& era_route : era_routes_) era_route->replace(now);
}

void ServerRoute::fail_all(const Failure& failure, Time now) {
  for (const Asked& asked : std::exchange(discovering_, {})) say(error_reply(asked.id, failure));
  for (const auto& era_route : era_routes_) era_route->fail_all(failure, now);
}

void ServerRoute::cancel_all(std::string_view reason, Time now) {
  discovering_.clear();
  for (const auto& era_route : era_routes_) era_route->cancel_all(reason, now);
}

void ServerRoute::list_changed(std::uint32_t server, mcp::ListKind kind, Time now) {
  if (server != parts_.plan.server) return;
  for (const auto& era_route : era_routes_) era_route->list_changed(kind, now);
}

void ServerRoute::own_tools_changed(Time now) {
  list_changed(parts_.plan.server, mcp::ListKind::tools, now);
}

// What it holds refers to the rules as they are: there is only to be told that lists may be others.
void ServerRoute::reconfigure(const ServerSet& changed, Time now) {
  const std::uint32_t server = parts_.plan.server;
  if (!changed.contains(server)) return;
  for (const auto& change : mcp::list_changes) list_changed(server, change.kind, now);
}

void ServerRoute::leave() {
  if (waits_ != 0) services_.catalogues().forget(std::exchange(waits_, 0));
  for (const auto& era_route : era_routes_) era_route->leave();
}

}  // namespace cellblock::gateway
