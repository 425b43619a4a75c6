#include "supervisor/gateway/aggregate/aggregate.h"

#include "policy/mcp/methods.h"
#include "policy/mcp/protocol_words.h"
#include "supervisor/gateway/aggregate/aggregate_effects.h"
#include "supervisor/gateway/aggregate/response_rewrite.h"
#include "supervisor/gateway/message/calls_in_flight.h"
#include "supervisor/gateway/message/replies.h"
#include "supervisor/gateway/message/session_failures.h"
#include "supervisor/gateway/route/modern_request_check.h"

namespace cellblock::gateway {
namespace {

/// For catalogues that are found only now. Hosts give a request 60 s, and a probe 10 s or less.
constexpr Milliseconds list_patience{15'000};
constexpr Milliseconds discover_patience{3'000};

constexpr std::size_t max_kept_meta = 64U << 10;

constexpr std::array<ListKind, list_kind_count> all_kinds = {
    ListKind::tools, ListKind::resources, ListKind::resource_templates, ListKind::prompts};

/// Its answer is made from what all servers offer.
bool concerns_all(std::string_view method) {
  return mcp::listed_kind(method) || method == mcp::method::discover ||
         method == mcp::method::listen;
}

Failure too_many(std::string what) {
  return plain_failure(FailureCode::too_many, "more than " + std::move(what));
}

void lower(std::optional<Time>& due, std::optional<Time> other) {
  if (other && (!due || *other < *due)) due = other;
}

}  // namespace

Aggregate::Aggregate(const Config& config, const SessionAccess& access, std::uint64_t session,
                     Sealer& sealer, AggregateEffects& effects, ToolShown tool_shown)
    : members_(config, access),
      merged_(members_),
      effects_(effects),
      lists_(members_, merged_, session, sealer, shown_to_host(std::move(tool_shown))),
      calls_(members_, merged_, ids_, effects),
      refresh_(members_, merged_, ids_, effects, config.catalogue.max_bytes),
      streams_(members_, merged_, ids_, effects) {}

// --- the host's requests -------------------------------------------------------------------------

void Aggregate::from_host(std::string_view line, const Message& message, Time now) {
  if (message.kind == MessageKind::request) request(line, message, now);
  if (message.kind == MessageKind::notification) notification_from_host(line, message);
  // Nobody asks a host of this era anything: an answer answers nothing.
  set_deadline(now);
}

void Aggregate::request(std::string_view line, const Message& message, Time now) {
  if (const auto refusal = refuse(line, message)) return reply_to_host(effects_, *refusal);
  handle(line, message, now);
}

std::optional<std::string> Aggregate::refuse(std::string_view line, const Message& message) const {
  const std::string_view id = message.id.in(line);
  if (is_in_flight(id)) {
    return protocol_error(id, mcp::invalid_request, "the id of a request in flight");
  }
  if (auto refusal = refuse_modern(line, message)) return refusal;
  const CallKind kind = kind_of(message.method);
  if (kind == CallKind::listen && streams_.size() >= max_streams) {
    return error_reply(id, too_many(std::to_string(max_streams) + " streams"));
  }
  if (in_flight() < max_calls) return std::nullopt;
  const Failure failure = too_many(std::to_string(max_calls) + " calls in flight");
  return failed_reply(id, kind, Era::modern, failure);
}

// First with what is known, and only if that is not enough with what can be found out: a plain call
// is not held up by a server that it is not for.
void Aggregate::handle(std::string_view line, const Message& message, Time now) {
  if (concerns_all(message.method)) want_all(now);
  if (answered(line, message, knowledge(), now)) return;
  want_all(now);
  if (knowledge() == Knowledge::complete) {
    answered(line, message, Knowledge::complete, now);
  } else {
    wait(line, message, now);
  }
}

bool Aggregate::answered(std::string_view line, const Message& message, Knowledge knowledge,
                         Time now) {
  if (const auto kind = mcp::listed_kind(message.method)) {
    if (knowledge == Knowledge::grows) return false;
    answer_list(*kind, line, message, now);
    return true;
  }
  if (message.method == mcp::method::discover) {
    if (knowledge == Knowledge::grows) return false;
    reply_to_host(effects_, lists_.discover(message.id.in(line), unavailable()));
    return true;
  }
  if (message.method == mcp::method::listen) {
    note_unseen();
    return streams_.listen(line, message, knowledge) == AggregateStreams::Taken::yes;
  }
  const auto taken = calls_.request(line, message, knowledge);
  if (taken == AggregateCalls::Taken::no) {
    reply_to_host(effects_,
                  protocol_error(message.id.in(line), mcp::method_not_found, "Method not found"));
  }
  return taken != AggregateCalls::Taken::not_yet;
}

AggregateLists::ToolShown Aggregate::shown_to_host(ToolShown tool_shown) const {
  if (!tool_shown) return {};
  return [this, tool_shown = std::move(tool_shown)] {
    return tool_shown(streams_.hears(ListKind::tools));
  };
}

void Aggregate::answer_list(ListKind kind, std::string_view line, const Message& message,
                            Time now) {
  reply_to_host(effects_, lists_.list(kind, line, message, unavailable(), now));
  seen_.at(static_cast<std::size_t>(kind)) = merged_.digest(kind);
  if (message.params.in(line).size() <= max_kept_meta) meta_ = meta_of(line, message);
}

void Aggregate::wait(std::string_view line, const Message& message, Time now) {
  if (!waiting_.has_room_for(line.size())) {
    const Failure failure = too_many(std::to_string(Waiting::max_bytes) +
                                     " bytes of requests that wait for what servers offer");
    return reply_to_host(
        effects_, failed_reply(message.id.in(line), kind_of(message.method), Era::modern, failure));
  }
  const bool is_probe = message.method == mcp::method::discover;
  waiting_.add({std::string(line), message, now + (is_probe ? discover_patience : list_patience)});
}

void Aggregate::notification_from_host(std::string_view line, const Message& message) {
  if (message.method != mcp::notification::cancelled) return;
  constexpr std::string_view reason = "cancelled by the client";
  const std::string_view id = message.request_id.in(line);
  if (waiting_.remove(id) || calls_.cancel(id, reason)) return;
  streams_.cancel(id, reason);
}

// --- what the servers offer ----------------------------------------------------------------------

void Aggregate::want_all(Time now) {
  for (const std::uint32_t server : members_.all()) {
    if (supply_.need(server, now) == CatalogueLoadState::Ask::now) want(server, now);
  }
}

// Who comes later is not to wait for what others have waited for in vain. When it comes back, the
// host hears that lists have changed.
void Aggregate::want(std::uint32_t server, Time now) {
  if (const auto broken = effects_.broken(server)) {
    supply_.is_broken(server, broken->failure, now);
    if (broken->rest == Broken::Rest::not_over) return;
  }
  supply_.asked(server);
  effects_.want_catalogue(server);
}

Knowledge Aggregate::knowledge() const {
  const bool is_complete = std::ranges::all_of(
      members_.all(), [this](std::uint32_t server) { return supply_.is_settled(server); });
  return is_complete ? Knowledge::complete : Knowledge::grows;
}

std::vector<Unavailable> Aggregate::unavailable() const {
  std::vector<Unavailable> missing;
  for (const std::uint32_t server : members_.all()) {
    if (merged_.has(server)) continue;
    const CatalogueLoadState::Reason* reason = supply_.reason(server);
    if (reason != nullptr) {
      missing.push_back({server, reason->full, reason->brief});
    } else {
      constexpr const char* not_yet = "what it offers is not known yet";
      missing.push_back({server, not_yet, not_yet});
    }
  }
  return missing;
}

void Aggregate::catalogue_ready(std::uint32_t server, const Catalogue& catalogue, Time now) {
  if (!members_.contains(server)) return;
  supply_.arrived(server);
  merged_.set(server, offer_of(members_.server(server), members_.rights(server), catalogue));
  lists_may_have_changed(now);
  catalogue_settled(now);
  set_deadline(now);
}

void Aggregate::catalogue_failed(std::uint32_t server, const Failure& failure, Time now) {
  if (!members_.contains(server)) return;
  supply_.failed(server, failure, now);
  catalogue_settled(now);
  set_deadline(now);
}

void Aggregate::catalogue_settled(Time now) {
  if (knowledge() == Knowledge::grows) return;
  for (const WaitingRequest& request : waiting_.take_all()) {
    answered(request.line, request.message, Knowledge::complete, now);
  }
}

// A list that is being read may have been begun under the old rules, so it is read again; and what
// has failed may have been mended. Of one that is a member no longer nothing is kept.
void Aggregate::reconfigure(const ServerSet& changed, Time now) {
  const auto before = std::vector(members_.all());
  members_.renew();
  for (const std::uint32_t server : before) {
    if (changed.contains(server)) forget(server);
  }
  want_all(now);
  lists_may_have_changed(now);
  catalogue_settled(now);
  set_deadline(now);
}

void Aggregate::forget(std::uint32_t server) {
  merged_.remove(server);
  supply_.forget(server);
  refresh_.route_failed(server);
}

// --- what the servers say ------------------------------------------------------------------------

void Aggregate::from_leg(std::uint32_t server, std::string_view line, const Message& message,
                         Time now) {
  if (message.kind == MessageKind::notification) {
    notification_from_leg(server, line, message, now);
  } else if (message.kind != MessageKind::request) {  // which a server of this era does not send
    answer_from_leg(server, line, message, now);
  }
  set_deadline(now);
}

void Aggregate::answer_from_leg(std::uint32_t server, std::string_view line, const Message& message,
                                Time now) {
  if (calls_.answer(server, line, message) || streams_.answer(server, message.id.in(line))) return;
  if (refresh_.answer(server, line, message) == ListRefresh::Answer::list_is_new) {
    lists_may_have_changed(now);
  }
}

void Aggregate::notification_from_leg(std::uint32_t server, std::string_view line,
                                      const Message& message, Time now) {
  if (message.method == mcp::notification::progress) return calls_.progress(server, line, message);
  if (message.method == mcp::notification::log_message) {
    return reply_to_host(effects_, name_logger(line, members_.name(server)));
  }
  for (const ListKind kind : streams_.notification(server, line, message)) {
    refresh_.mark(server, kind, now);
  }
}

void Aggregate::lists_may_have_changed(Time now) {
  if (streams_.size() > 0 && !tell_due_) tell_due_ = now + ListRefresh::coalesce;
}

// What the host hears of from now on is what changes from now on.
void Aggregate::note_unseen() {
  for (const ListKind kind : all_kinds) {
    auto& seen = seen_.at(static_cast<std::size_t>(kind));
    if (!seen) seen = merged_.digest(kind);
  }
}

// Templates have no notification of their own: they are resources.
void Aggregate::tell_changes() {
  std::array<bool, list_kind_count> changed{};
  for (const ListKind kind : all_kinds) {
    const auto index = static_cast<std::size_t>(kind);
    const std::size_t digest = merged_.digest(kind);
    changed.at(index) = std::exchange(seen_.at(index), digest) != digest;
  }
  const auto has = [&](ListKind kind) { return changed.at(static_cast<std::size_t>(kind)); };
  if (has(ListKind::tools)) streams_.tell_changed(ListKind::tools);
  if (has(ListKind::prompts)) streams_.tell_changed(ListKind::prompts);
  if (has(ListKind::resources) || has(ListKind::resource_templates)) {
    streams_.tell_changed(ListKind::resources);
  }
}

// A new cell may offer something else than the one that ended.
void Aggregate::route_started(std::uint32_t server, Time now) {
  if (streams_.route_started(server) == AggregateStreams::Again::yes) {
    for (const ListKind kind : all_kinds) refresh_.mark(server, kind, now);
  }
  set_deadline(now);
}

void Aggregate::route_failed(std::uint32_t server, const Failure& failure, Time now) {
  refresh_.route_failed(server);
  streams_.route_failed(server);
  calls_.route_failed(server, failure);
  set_deadline(now);
}

// --- time and ends -------------------------------------------------------------------------------

void Aggregate::deadline(Time now) {
  deadline_.reset();
  for (const std::uint32_t server : supply_.take_due(now)) effects_.want_catalogue(server);
  for (const WaitingRequest& request : waiting_.take_due(now)) {
    answered(request.line, request.message, Knowledge::complete, now);
  }
  refresh_.deadline(meta_, now);
  if (tell_due_ && *tell_due_ <= now) {
    tell_due_.reset();
    tell_changes();
  }
  set_deadline(now);
}

void Aggregate::set_deadline(Time now) {
  std::optional<Time> due = tell_due_;
  lower(due, supply_.next_due());
  lower(due, waiting_.next_due());
  lower(due, refresh_.next_due());
  if (due == deadline_) return;
  deadline_ = due;
  if (!due) return effects_.set_deadline(std::nullopt);
  const auto left = std::chrono::ceil<Milliseconds>(*due - now);
  effects_.set_deadline(std::max(left, Milliseconds{0}));
}

void Aggregate::fail_all(const Failure& failure, Time now) {
  for (const WaitingRequest& request : waiting_.take_all()) {
    reply_to_host(effects_, failed_reply(request.id(), kind_of(request.message.method), Era::modern,
                                         failure));
  }
  calls_.fail_all(failure);
  streams_.fail_all(failure);
  refresh_.clear();
  tell_due_.reset();
  set_deadline(now);
}

void Aggregate::cancel_all(std::string_view reason, Time now) {
  waiting_.take_all();
  calls_.cancel_all(reason);
  streams_.cancel_all(reason);
  refresh_.clear();
  tell_due_.reset();
  set_deadline(now);
}

}  // namespace cellblock::gateway
