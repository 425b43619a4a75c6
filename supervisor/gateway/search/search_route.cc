#include "supervisor/gateway/search/search_route.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "policy/json/json_text.h"
#include "policy/jsonrpc/message_edit.h"
#include "policy/mcp/methods.h"
#include "policy/mcp/protocol_words.h"
#include "policy/rates/rate_text.h"
#include "supervisor/gateway/aggregate/request_route.h"
#include "supervisor/gateway/message/replies.h"
#include "supervisor/gateway/message/revisions.h"
#include "supervisor/gateway/message/session_failures.h"
#include "supervisor/gateway/message/written_message.h"
#include "supervisor/gateway/records/audit_record.h"
#include "supervisor/gateway/search/listed_tools.h"
#include "supervisor/gateway/search/search_tools.h"

namespace cellblock::gateway {
namespace {

using wire::AuditKind;
using wire::AuditOutcome;

constexpr std::string_view rule = "tool_search";

// As raw JSON. What a host calls so could not be told from ours.
constexpr std::string_view id_beginning = "\"cellblock-list-";

std::string page_request_id(std::uint64_t number) {
  return fmt::format("{}{}\"", id_beginning, number);
}

bool is_own_id(std::string_view id) { return id.starts_with(id_beginning); }

std::string page_request(std::string_view id, std::string_view meta, std::string_view cursor) {
  std::string params;
  if (!meta.empty()) params = fmt::format(R"("_meta":{})", meta);
  if (!cursor.empty()) {
    params += fmt::format(R"({}"cursor":{})", params.empty() ? "" : ",", cursor);
  }
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"{}","params":{{{}}}}})", id,
                     mcp::method::tools_list, params);
}

// Of an answer to a request of ours; empty: it is none. An answer that the scanner refuses (the
// most tools that a list may have, and after them the one that reads on) is ours all the same:
// nobody else would end what waits for it.
std::string_view own_answer(const WrittenMessage& written) {
  const auto& message = written.message();
  if (message && !message->method.empty()) return {};
  std::string_view id;
  if (message) {
    id = message->id.in(written.line());
  } else if (const auto members = raw_members(written.line())) {
    const RawMember* found = find_member(*members, "id");
    if (found != nullptr && find_member(*members, "method") == nullptr) id = found->value;
  }
  return is_own_id(id) ? id : std::string_view();
}

Failure too_many_listings() {
  return plain_failure(FailureCode::too_many, fmt::format("more than {} lists and searches at once",
                                                          SearchRoute::max_listings));
}

Failure lists_hold_too_much(std::size_t most) {
  return plain_failure(
      FailureCode::too_many,
      fmt::format("the lists of tools that are being searched hold more than {} bytes together",
                  most));
}

Failure log_is_broken() {
  return plain_failure(FailureCode::audit_unavailable,
                       "the audit log cannot be written, so nothing new is called");
}

std::uint64_t microseconds_of(Time::duration time) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(time).count());
}

}  // namespace

SearchRoute::SearchRoute(const SearchParts& parts, McpServices& services, ServerRouteEffects& above)
    : parts_(parts), shared_(parts.shared), services_(services), above_(above) {}

std::size_t SearchRoute::in_flight() const {
  const auto under_way = static_cast<std::size_t>(std::ranges::count_if(
      listings_, [](const auto& listing) { return !listing->own_id.empty(); }));
  // What asks below for one of ours is in flight there as well.
  return listings_.size() + route().in_flight() - std::min(under_way, route().in_flight());
}

bool SearchRoute::is_in_flight(std::string_view caller_id) const {
  const bool is_ours = std::ranges::any_of(
      listings_, [caller_id](const auto& listing) { return listing->id == caller_id; });
  return is_ours || route().is_in_flight(caller_id);
}

SearchRoute::ListingIt SearchRoute::listing_of(std::string_view id) {
  return std::ranges::find_if(listings_, [id](const auto& listing) { return listing->id == id; });
}

std::unique_ptr<SearchRoute::Listing> SearchRoute::take(ListingIt listing) {
  auto taken = std::move(*listing);
  listings_.erase(listing);
  return taken;
}

// --- from the host -------------------------------------------------------------------------------

void SearchRoute::from_host(std::string_view line, const Message& message, Time now) {
  if (!taken(line, message, now)) route().from_host(line, message, now);
  drain(now);
}

bool SearchRoute::taken(std::string_view line, const Message& message, Time now) {
  if (message.method == mcp::notification::cancelled) return cancelled(line, message, now);
  if (message.kind != MessageKind::request) return false;
  const std::string_view id = message.id.in(line);
  if (is_own_id(id) || listing_of(id) != listings_.end()) {
    say(protocol_error(id, mcp::invalid_request, "the id of a request in flight"));
    return true;
  }
  if (message.method == mcp::method::tools_list) {
    list(line, message, now);
    return true;
  }
  if (message.method != mcp::method::tools_call) return false;
  if (message.name_text == finding_tool_name) find(line, message, now);
  if (message.name_text == calling_tool_name) call(line, message, now);
  return message.name_text == finding_tool_name || message.name_text == calling_tool_name;
}

// The answer to what was asked below for it comes, and is nobody's.
bool SearchRoute::cancelled(std::string_view line, const Message& message, Time now) {
  const auto found = listing_of(message.request_id.in(line));
  if (found == listings_.end()) return false;
  note_end(*take(found), {.outcome = AuditOutcome::cancelled, .reason = "host"}, now);
  return true;
}

// All that is listed fits on one page, so there is no other that a cursor could name.
void SearchRoute::list(std::string_view line, const Message& message, Time now) {
  const std::string_view id = message.id.in(line);
  if (!message.cursor.empty() && message.cursor.in(line) != "null") {
    return say(protocol_error(id, mcp::invalid_params, "Unknown cursor"));
  }
  if (listings_.size() >= max_listings) return say(error_reply(id, too_many_listings()));
  ask_for_page(add(line, message), {}, now);
}

// What it holds is judged where its first page is asked for, as with every page.
SearchRoute::Listing& SearchRoute::add(std::string_view line, const Message& message) {
  auto listing = std::make_unique<Listing>(shared_.policy.lists);
  listing->id = message.id.in(line);
  listing->era = era_of(message);
  if (listing->era == Era::modern) listing->meta = meta_of(line, message);
  listing->held.set(listing->bytes());
  listings_.push_back(std::move(listing));
  return *listings_.back();
}

void SearchRoute::call(std::string_view line, const Message& message, Time now) {
  auto text = as_called_tool(line, message);
  if (!text) return refuse(line, message, text.error());
  const WrittenMessage written(shared_.scanner, *std::move(text));
  if (!written.message()) {
    return refuse(line, message,
                  plain_failure(FailureCode::invalid_arguments, "the call cannot be read"));
  }
  route().from_host(written.line(), *written.message(), now);
}

// No rule is asked about it: it shows what the host would be listed anyway. But it is work, so it
// has a rate and a record as any call has.
void SearchRoute::find(std::string_view line, const Message& message, Time now) {
  auto admitted = admit(line, message, now);
  if (!admitted) return refuse(line, message, admitted.error());
  const std::uint64_t call = admitted->call;
  const bool is_told = shared_.config.audit.arguments != AuditArguments::none;
  services_.record(place(),
                   {.kind = AuditKind::call,
                    .outcome = AuditOutcome::ok,
                    .tool = finding_tool_name,
                    .reason = rule,
                    .call = call,
                    .bytes = line.size(),
                    .arguments = is_told ? argument_digest(message.arguments.in(line)) : Sha256{}});
  add(line, message).find = *std::move(admitted);
  services_.when_recorded([this, here = std::weak_ptr(here_), call](AuditState log, Time later) {
    if (!here.expired()) recorded(call, log, later);
  });
}

std::expected<SearchRoute::Find, Failure> SearchRoute::admit(std::string_view line,
                                                             const Message& message, Time now) {
  Find find{.began = now};
  find.wanted = CELLBLOCK_TRY(read_find(message.params.in(line)));
  if (services_.audit_state() == AuditState::broken) return std::unexpected(log_is_broken());
  if (listings_.size() >= max_listings) return std::unexpected(too_many_listings());
  auto place = shared_.policy.places.take(
      {.session = parts_.session, .server = CallSlots::no_server}, waiter_, now);
  if (!place) {
    Failure failure = plain_failure(FailureCode::rate_limited, busy_text(place.error(), {}, {}));
    failure.retry_after = place.error().retry_after;
    return std::unexpected(std::move(failure));
  }
  find.place = *std::move(place);
  find.call = shared_.ids.next();
  return find;
}

// By the call, since the host may have taken one back and searched again under the same id.
void SearchRoute::recorded(std::uint64_t call, AuditState log, Time now) {
  const auto found = std::ranges::find_if(listings_, [call](const auto& listing) {
    return listing->find && listing->find->call == call;
  });
  if (found == listings_.end()) return;  // taken back, or over with its session
  if (log == AuditState::broken) {
    fail(*take(found), log_is_broken(), now);
  } else {
    ask_for_page(**found, {}, now);
    drain(now);
  }
  above_.route_answered(now);
}

// --- lists ---------------------------------------------------------------------------------------

void SearchRoute::ask_for_page(Listing& listing, std::string_view cursor, Time now) {
  if (!listing.held.set(listing.bytes())) {
    const Failure failure = lists_hold_too_much(shared_.policy.lists.most());
    return fail(*take(listing_of(listing.id)), failure, now);
  }
  listing.own_id = page_request_id(++last_id_);
  const WrittenMessage written(shared_.scanner, page_request(listing.own_id, listing.meta, cursor));
  if (!written.message()) {
    const Failure failure = bad_answer(written.message().error(), parts_.server);
    return fail(*take(listing_of(listing.id)), failure, now);
  }
  ++asked_;
  route().from_host(written.line(), *written.message(), now);
}

// What is not read costs nothing: there is nothing of ours in it while nothing was asked.
void SearchRoute::to_host(Slices message) {
  if (asked_ == 0) return above_.to_host(message);
  const WrittenMessage written(shared_.scanner, joined(message));
  if (own_answer(written).empty()) return above_.to_host(message);
  --asked_;
  answers_.push({std::string(written.line())});
}

void SearchRoute::drain(Time now) {
  answers_.run([this, now](const Answer& answer) { page_answered(answer, now); });
}

void SearchRoute::page_answered(const Answer& answer, Time now) {
  const WrittenMessage written(shared_.scanner, answer.text);
  const std::string_view own_id = own_answer(written);
  const auto found = std::ranges::find_if(
      listings_, [own_id](const auto& listing) { return listing->own_id == own_id; });
  if (found == listings_.end()) return;  // the host has taken it back
  if (!written.message()) {
    const Failure failure = bad_answer(written.message().error(), parts_.server);
    return fail(*take(found), failure, now);
  }
  const Message& message = *written.message();
  if (!message.error.empty()) {
    const auto failed = take(found);
    say(EditedMessage(written.line(), {{message.id, failed->id}}).flatten());
    return note_end(*failed, {.outcome = AuditOutcome::error, .reason = "list_failed"}, now);
  }
  const auto cursor = (*found)->listed.take(message.result.in(written.line()));
  if (cursor) return ask_for_page(**found, *cursor, now);
  complete(*take(found), now);
}

void SearchRoute::complete(const Listing& listing, Time now) {
  if (!listing.find) return say(result_reply(listing.id, shown(listing.listed)));
  const ListOf of = parts_.server != nullptr ? ListOf::one_server : ListOf::all_servers;
  const std::string reply =
      result_reply(listing.id, find_result(listing.find->wanted, listing.listed, of, listing.era));
  say(reply);
  note_end(listing, {.outcome = AuditOutcome::ok, .bytes = reply.size()}, now);
}

std::string SearchRoute::shown(const ListedTools& listed) const {
  if (const Server* server = parts_.server) {
    return listed.shown([server](std::string_view name) { return is_always_listed(*server, name); },
                        {});
  }
  return listed.shown(
      [this](std::string_view name) { return is_always_listed(shared_.config, name); },
      servers_in(listed));
}

// --- what becomes of them ------------------------------------------------------------------------

AuditPlace SearchRoute::place() const {
  if (parts_.server == nullptr) return {};
  return {.server = parts_.server->name, .cell = route().cell()};
}

void SearchRoute::say(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  above_.to_host(std::array<std::string_view, 2>{text, "\n"});
}

void SearchRoute::refuse(std::string_view line, const Message& message, const Failure& failure) {
  services_.record(place(), {.kind = AuditKind::call,
                             .outcome = AuditOutcome::denied,
                             .tool = message.name_text,
                             .reason = name_of(failure.code),
                             .bytes = line.size()});
  say(tool_error_reply(message.id.in(line), failure, era_of(message)));
}

void SearchRoute::note_end(const Listing& listing, AuditNote note, Time now) {
  if (!listing.find) return;
  note.kind = AuditKind::call_ended;
  note.tool = finding_tool_name;
  note.call = listing.find->call;
  note.microseconds = microseconds_of(now - listing.find->began);
  services_.record(place(), note);
}

void SearchRoute::fail(const Listing& listing, const Failure& failure, Time now) {
  say(listing.find ? tool_error_reply(listing.id, failure, listing.era)
                   : error_reply(listing.id, failure));
  note_end(listing, {.outcome = AuditOutcome::error, .reason = name_of(failure.code)}, now);
}

void SearchRoute::fail_all(const Failure& failure, Time now) {
  for (const auto& listing : std::exchange(listings_, {})) fail(*listing, failure, now);
  route().fail_all(failure, now);
  answers_.clear();
}

void SearchRoute::cancel_all(std::string_view reason, Time now) {
  for (const auto& listing : std::exchange(listings_, {})) {
    note_end(*listing, {.outcome = AuditOutcome::cancelled, .reason = reason}, now);
  }
  route().cancel_all(reason, now);
  answers_.clear();
}

// --- from below ----------------------------------------------------------------------------------

void SearchRoute::route_running(Time now) { above_.route_running(now); }

void SearchRoute::route_lost(const Failure& failure, After after, Time now) {
  drain(now);
  above_.route_lost(failure, after, now);
}

void SearchRoute::route_answered(Time now) {
  drain(now);
  above_.route_answered(now);
}

}  // namespace cellblock::gateway
