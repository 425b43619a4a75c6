#include "supervisor/gateway/aggregate/aggregate_calls.h"

#include <algorithm>
#include <utility>

#include "policy/jsonrpc/message_edit.h"
#include "supervisor/gateway/aggregate/aggregate_effects.h"
#include "supervisor/gateway/aggregate/response_rewrite.h"
#include "supervisor/gateway/message/replies.h"

namespace cellblock::gateway {

const RoutedCall* RoutedCalls::find(std::uint32_t server, std::string_view own_id) const {
  const auto found = std::ranges::find_if(calls_, [&](const RoutedCall& call) {
    return call.server == server && std::to_string(call.own_id) == own_id;
  });
  return found == calls_.end() ? nullptr : &*found;
}

const RoutedCall* RoutedCalls::find_by_caller_id(std::string_view caller_id) const {
  const auto found = std::ranges::find(calls_, caller_id, &RoutedCall::caller_id);
  return found == calls_.end() ? nullptr : &*found;
}

std::optional<RoutedCall> RoutedCalls::take(const RoutedCall* call) {
  if (call == nullptr) return std::nullopt;
  const auto place = calls_.begin() + (call - calls_.data());
  RoutedCall taken = std::move(*place);
  calls_.erase(place);
  return taken;
}

std::optional<RoutedCall> RoutedCalls::close(std::uint32_t server, std::string_view own_id) {
  return take(find(server, own_id));
}

std::optional<RoutedCall> RoutedCalls::close_by_caller_id(std::string_view caller_id) {
  return take(find_by_caller_id(caller_id));
}

std::vector<RoutedCall> RoutedCalls::take_of(std::uint32_t server) {
  const auto others = std::ranges::stable_partition(
      calls_, [&](const RoutedCall& call) { return call.server != server; });
  std::vector<RoutedCall> taken(std::make_move_iterator(others.begin()),
                                std::make_move_iterator(others.end()));
  calls_.erase(others.begin(), others.end());
  return taken;
}

std::vector<RoutedCall> RoutedCalls::take_all() { return std::exchange(calls_, {}); }

AggregateCalls::Taken AggregateCalls::request(std::string_view line, const Message& message,
                                              Knowledge knowledge) {
  const std::uint64_t own_id = ids_.next();
  RequestRoute route = router_.route(line, message, std::to_string(own_id), knowledge);
  if (std::holds_alternative<NoRoute>(route)) return Taken::no;
  if (std::holds_alternative<ToBeSeen>(route)) return Taken::not_yet;
  if (const auto* nobody = std::get_if<ToNobody>(&route)) {
    refuse(line, *nobody);
  } else {
    send(line, message, std::get<ToServer>(std::move(route)), own_id);
  }
  return Taken::yes;
}

void AggregateCalls::refuse(std::string_view line, const ToNobody& nobody) {
  if (nobody.denied) {
    effects_.record(nobody.denied->server, {.kind = wire::AuditKind::call,
                                            .outcome = wire::AuditOutcome::denied,
                                            .tool = nobody.denied->name,
                                            .reason = nobody.denied->rule,
                                            .bytes = line.size()});
  }
  reply_to_host(effects_, nobody.reply);
}

// In the table before it goes out: the server route may answer at once.
void AggregateCalls::send(std::string_view line, const Message& message, ToServer route,
                          std::uint64_t own_id) {
  const std::string id = std::to_string(own_id);
  route.edits.push_back({message.id, id});
  const bool has_token = !message.meta_progress_token.empty();
  const bool token_is_in_params = route.edits.front().where == message.params;
  if (has_token && !token_is_in_params) route.edits.push_back({message.meta_progress_token, id});
  calls_.open({.own_id = own_id,
               .server = route.server,
               .caller_id = std::string(message.id.in(line)),
               .progress_token = std::string(message.meta_progress_token.in(line)),
               .kind = kind_of(message.method)});
  const EditedMessage edited(line, std::move(route.edits));
  effects_.to_leg(route.server, edited.slices());
}

bool AggregateCalls::cancel(std::string_view caller_id, std::string_view reason) {
  const auto call = calls_.close_by_caller_id(caller_id);
  if (call) send_to_server(effects_, call->server, cancelled_notification(call->own_id, reason));
  return call.has_value();
}

bool AggregateCalls::answer(std::uint32_t server, std::string_view line, const Message& message) {
  const auto call = calls_.close(server, message.id.in(line));
  if (!call) return false;
  std::vector<Replacement> edits =
      show_answer(line, message, server, members_.name(server), merged_.routes());
  edits.push_back({message.id, call->caller_id});
  const EditedMessage edited(line, std::move(edits));
  const auto named = message.input_methods.empty()
                         ? std::nullopt
                         : name_asker(edited.flatten(), members_.name(server));
  if (named) {
    reply_to_host(effects_, *named);
  } else {
    effects_.to_host(edited.slices());
  }
  return true;
}

void AggregateCalls::progress(std::uint32_t server, std::string_view line, const Message& message) {
  const RoutedCall* call = calls_.find(server, message.progress_token.in(line));
  if (call == nullptr || call->progress_token.empty()) return;
  const EditedMessage edited(line, {{message.progress_token, call->progress_token}});
  effects_.to_host(edited.slices());
}

void AggregateCalls::fail(const RoutedCall& call, const Failure& failure) {
  reply_to_host(effects_, failed_reply(call.caller_id, call.kind, Era::modern, failure));
}

void AggregateCalls::route_failed(std::uint32_t server, const Failure& failure) {
  for (const RoutedCall& call : calls_.take_of(server)) fail(call, failure);
}

void AggregateCalls::fail_all(const Failure& failure) {
  for (const RoutedCall& call : calls_.take_all()) fail(call, failure);
}

void AggregateCalls::cancel_all(std::string_view reason) {
  for (const RoutedCall& call : calls_.take_all()) {
    send_to_server(effects_, call.server, cancelled_notification(call.own_id, reason));
  }
}

}  // namespace cellblock::gateway
