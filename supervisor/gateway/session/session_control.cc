#include <array>
#include <string>
#include <utility>

#include "policy/failures/failure.h"
#include "supervisor/gateway/message/replies.h"
#include "supervisor/gateway/message/session_failures.h"
#include "supervisor/gateway/search/search_route.h"
#include "supervisor/gateway/session/admission.h"
#include "supervisor/gateway/session/pin_control.h"
#include "supervisor/gateway/session/session.h"

// The session's half that answers cellblock's own requests.
namespace cellblock::gateway {

using wire::AuditKind;
using wire::AuditOutcome;

namespace {

bool decides(ControlMethod method) {
  return method == ControlMethod::pin_accept || method == ControlMethod::pin_forget;
}

}  // namespace

void Session::control(std::string_view line, const Message& message, Time now) {
  if (message.kind != MessageKind::request) return;
  const std::string_view id = message.id.in(line);
  const auto request = parse_control(message.method, message.params.in(line));
  if (!request) return reply_to_host(error_reply(id, request.error()));
  if (request->method == ControlMethod::attach) {
    if (peer_.is_admin) return refuse_admin(id, message.kind);
    if (state_ == State::unattached) return attach(id, *request, now);
    return reply_to_host(error_reply(
        id, plain_failure(FailureCode::invalid_request, "this connection is attached already")));
  }
  if (!request->server.empty()) {
    if (const auto failure = refuse_about(request->server)) {
      return reply_to_host(error_reply(id, *failure));
    }
  }
  if (decides(request->method) && !may_decide(config_, peer_)) {
    return reply_to_host(error_reply(id, only_admins_decide()));
  }
  const bool approves =
      request->method == ControlMethod::approve || request->method == ControlMethod::approve_next;
  if (approves && !peer_.is_admin) {
    return reply_to_host(error_reply(id, only_admins_approve()));
  }
  answer_control(id, *request);
}

void Session::answer_control(std::string_view id, const ControlRequest& request) {
  ++control_owed_;
  effects_.answer_control(request,
                          [this, asked = std::string(id)](const std::string& result, Time now) {
                            --control_owed_;
                            reply_to_host(result_reply(asked, result));
                            end_if_answered(now);
                          });
}

void Session::give_host_up(HostPatience::Verdict why, Time now) {
  if (state_ == State::closing || why == HostPatience::Verdict::waits) return;
  const HostGivenUp given_up = host_given_up(why, config_.listen, server_);
  reply_to_host(error_reply("", given_up.failure));
  end_with(given_up.reason, given_up.failure, now);
}

// An administrator may ask about every declared server.
std::optional<Failure> Session::refuse_about(const std::string& server) const {
  if (!peer_.is_admin) return refuse_use(config_, access_, server);
  return find_server(config_, server) != nullptr ? std::nullopt
                                                 : std::optional(not_allowlisted(server));
}

void Session::refuse_admin(std::string_view id, MessageKind kind) {
  if (kind == MessageKind::request) reply_to_host(error_reply(id, no_servers_here()));
}

std::optional<Failure> Session::refuse_to_attach(const ControlRequest& request, Time now) const {
  if (request.server.empty()) return refuse_aggregate(now);
  const AuditState audit = effects_.audit_state();
  if (auto failure = refuse_attach(config_, access_, request.server, audit)) return failure;
  if (auto failure = attachment_.refusal(*find_server(config_, request.server))) return failure;
  return refuse_over_share(shared_.policy.places, now);
}

std::optional<Failure> Session::refuse_aggregate(Time now) const {
  if (auto failure = refuse_any(config_, effects_.audit_state())) return failure;
  return refuse_over_share(shared_.policy.places, now);
}

CellPlan Session::plan_of(const Server& server) const {
  return {.server = static_cast<std::uint32_t>(&server - config_.servers.data()),
          .program = attachment_.program(),
          .has_workspace = attachment_.has_workspace(),
          .purpose = attachment_.purpose()};
}

void Session::attach(std::string_view id, const ControlRequest& request, Time now) {
  attachment_ = Attachment(id, request);
  labels_ = request.labels;
  tools_ = request.tools;
  attachment_.take(effects_.take_descriptors(attachment_.offer()));
  if (const auto failure = take_up(request)) return attach_failed(*failure, now);
  if (!take_role(request.role)) {
    note(AuditKind::attach, AuditOutcome::denied, "role");
    return attach_failed(role_refused(request.role), now);
  }
  if (const auto failure = refuse_to_attach(request, now)) {
    note(AuditKind::attach, AuditOutcome::denied, name_of(failure->code));
    return attach_failed(*failure, now);
  }
  join_context(now);
  if (!request.server.empty()) {
    return attach_to(*find_server(config_, request.server), request.start, now);
  }
  speak_with_all();
  attached(0);
}

// A host that runs several agents tells them apart by a label.
void Session::join_context(Time now) {
  const auto named = std::ranges::find(labels_, "context", &Label::name);
  shared_.policy.flows.join(
      peer_.session, named == labels_.end() ? std::string_view() : std::string_view(named->value),
      is_resumed_ ? FlowContexts::Entry::resumed : FlowContexts::Entry::fresh, now,
      FlowPerson{peer_.uid, peer_.gid, {peer_.groups.begin(), peer_.groups.end()}});
}

// A host may send any label: labels are recorded, and no permission depends on them.
void Session::note_labels() {
  for (const Label& label : labels_) {
    effects_.record({}, {.kind = AuditKind::label, .tool = label.value, .reason = label.name});
  }
}

std::unique_ptr<Route> Session::listed_route(ToolListing listing, const MakeRoute& make) {
  ServerRouteEffects& effects = *this;
  if (listing == ToolListing::all) return make(effects);
  auto search = std::make_unique<SearchRoute>(
      SearchParts{.shared = shared_, .server = server_, .session = peer_.session}, effects_,
      effects);
  search->put_before(make(search->below()));
  return search;
}

void Session::attach_to(const Server& server, StartWhen start, Time now) {
  server_ = &server;
  const CellPlan plan = plan_of(server);
  ServerRoute* only = nullptr;
  route_ = listed_route(
      tools_.value_or(ToolListing::all), [this, &plan, start, &only](ServerRouteEffects& above) {
        auto route = std::make_unique<ServerRoute>(ServerRouteParts{.shared = shared_,
                                                                    .access = access_,
                                                                    .plan = plan,
                                                                    .session = peer_.session,
                                                                    .start = start,
                                                                    .reading_tool = reading_tool()},
                                                   effects_, above);
        only = route.get();
        return route;
      });
  if (plan.program == wire::CellProgram::server) effects_.expect_cell(plan.server);
  if (start == StartWhen::on_demand) {
    note(AuditKind::attach, AuditOutcome::ok, is_resumed_ ? "resumed" : "on_demand");
    attached(0);
    if (server.start.when == CellStart::session && !is_resumed_) only->start(now);
    return;
  }
  state_ = State::attaching;
  effects_.set_host_flow(HostFlow::held);
  only->start(now);
}

void Session::attached(std::uint64_t cell) {
  state_ = State::attached;
  note_labels();
  effects_.to_control(attachment_.answer(server_, peer_.session, cell, role_));
  effects_.set_host_flow(HostFlow::flowing);
  if (is_resumed_) effects_.prefill_host(resumption_->take_unread());
}

void Session::attach_failed(const Failure& failure, Time now) {
  note_labels();
  effects_.drop_workspace();
  effects_.to_control(error_reply(attachment_.id(), failure));
  if (attachment_.has_stdio()) return fail(failure, now);
  // The connection stays: its owner may ask for the logs, or try again. The route is kept, since it
  // may be the caller of this function; the next attach replaces it.
  state_ = State::unattached;
  server_ = nullptr;
  labels_.clear();
  tools_.reset();
  effects_.set_host_flow(HostFlow::flowing);
}

}  // namespace cellblock::gateway
