#include "client/lib/connection_core.h"

#include <fmt/format.h>

#include <vector>

#include "client/connection/notice_reader.h"
#include "client/connection/options_check.h"
#include "client/connection/rpc_text.h"
#include "client/lib/reconnecting.h"
#include "policy/base/result.h"
#include "policy/mcp/methods.h"

namespace cellblock::client {

using Clock = std::chrono::steady_clock;

namespace {

Error cancelled_by_caller() {
  return {.code = ErrorCode::cancelled, .text = "cancelled by the caller"};
}

Error called_in_permission() {
  return {.code = ErrorCode::in_use,
          .text = "on_permission decides about a request, and must not make another one"};
}

Error destroyed_in_permission() {
  return {.code = ErrorCode::disconnected,
          .text = "the connection was closed while on_permission decided about this request"};
}

Error denied(std::string_view who, const std::string& reason) {
  return {.code = ErrorCode::denied_by_host,
          .text = reason.empty() ? fmt::format("{} denied this call", who)
                                 : fmt::format("{} denied this call: {}", who, reason)};
}

bool wants_progress(const CallOptions& how) { return how.on_progress || how.at_most > how.timeout; }

}  // namespace

Connection::Impl::Impl(Options chosen)
    : options(std::move(chosen)),
      conversation(options.limits),
      gate(options.permission, options.on_permission),
      channel(std::make_shared<Channel>(reactor, options.limits)) {}

void Connection::Impl::connect(Completion<void> done) {
  if (auto checked = check_options(options); !checked) return post<void>(std::move(done), checked);
  auto handlers = Channel::Handlers{.line =
                                        [weak = weak_from_this()](std::string_view line) {
                                          if (const auto self = weak.lock()) self->handle(line);
                                        },
                                    .long_line =
                                        [weak = weak_from_this()](const LongLine& line) {
                                          const auto self = weak.lock();
                                          return self && self->handle_long(line);
                                        },
                                    .ended =
                                        [weak = weak_from_this()](const Error& why) {
                                          if (const auto self = weak.lock()) self->ended(why);
                                        }};
  const auto path = options.socket.empty() ? default_socket_path() : options.socket;
  // A channel is for one connection.
  channel->close();
  channel = std::make_shared<Channel>(reactor, options.limits);
  farewell.reset();
  channel->connect(path, std::move(handlers), std::move(done));
}

Result<void> Connection::Impl::send(std::string line, OwnedFd attached) {
  const auto seen = options.on_frame ? line.substr(0, line.size() - 1) : std::string();
  CELLBLOCK_CHECK(channel->send(std::move(line), std::move(attached)));
  if (options.on_frame) run("on_frame", [&] { options.on_frame(FrameDirection::to_daemon, seen); });
  return {};
}

CallId Connection::Impl::request(std::string_view method, std::string_view params,
                                 const CallOptions& how, Completion<std::string> done,
                                 OwnedFd attached) {
  const auto fail = [&](Error why) {
    post<std::string>(std::move(done), std::unexpected(std::move(why)));
    return CallId::none;
  };
  auto object = wants_progress(how) ? with_progress_token(params, conversation.next_id())
                                    : std::string(params);
  if (!object) return fail(object.error());
  if (is_judging) return fail(called_in_permission());
  is_judging = true;
  auto judged = gate.judge(attachment ? attachment->server : "", method, *object);
  is_judging = false;
  if (is_released) {
    fail(destroyed_in_permission());
    run_what_is_left();
    return CallId::none;
  }
  if (!judged) return fail(judged.error());
  if (judged->failure) report(*judged->failure);
  const auto& decision = judged->decision;
  if (decision.verdict == Verdict::deny) return fail(denied("the host", decision.reason));
  if (decision.verdict == Verdict::ask && !options.on_approval) {
    return fail(denied("the host, where nobody can be asked,", decision.reason));
  }
  auto opened = conversation.open(method, *object);
  if (!opened) return fail(opened.error());
  const auto id = opened->id;
  auto& call = calls.try_emplace(id, reactor, how, std::move(done)).first->second;
  if (decision.verdict == Verdict::allow) {
    if (!send_call(id, std::move(opened->line), std::move(attached))) return CallId::none;
  } else {
    call.held = std::move(opened->line);
    hold(id, std::move(judged->call));
  }
  watch_stop(id);
  return CallId{id};
}

bool Connection::Impl::send_call(std::uint64_t id, std::string line, OwnedFd attached) {
  if (auto gone = send(std::move(line), std::move(attached)); !gone) {
    (void)conversation.give_up(id, {});  // never sent: there is nobody to tell
    complete(id, std::unexpected(farewell.value_or(gone.error())));
    return false;
  }
  sent(id);
  return true;
}

void Connection::Impl::hold(std::uint64_t id, CallToApprove call) {
  auto deliver = [where = reactor, weak = weak_from_this(), id](Decision decision) {
    where->post([weak, id, decision = std::move(decision)] {
      if (const auto self = weak.lock()) self->approved(id, decision);
    });
  };
  const auto pending = std::make_shared<PendingApproval>(std::move(deliver));
  calls.at(id).approval = pending;
  set_timer(id, CallClock::after(Clock::now(), options.approval_timeout));
  reactor->post([weak = weak_from_this(), id, pending, call = std::move(call)] {
    const auto self = weak.lock();
    if (self && self->calls.contains(id)) self->ask_for_approval(call, pending);
  });
}

void Connection::Impl::approved(std::uint64_t id, const Decision& decision) {
  const auto found = calls.find(id);
  if (found == calls.end() || found->second.held.empty()) return;
  if (decision.verdict != Verdict::allow) {
    return give_up(id, denied("whoever was asked", decision.reason));
  }
  send_call(id, std::exchange(found->second.held, {}));
}

// Whoever saw the line leave may have ended the call.
void Connection::Impl::sent(std::uint64_t id) {
  const auto found = calls.find(id);
  if (found == calls.end()) return;
  auto& call = found->second;
  call.clock = CallClock(Clock::now(), call.how.timeout, call.how.at_most);
  set_timer(id, call.clock.deadline());
}

// From whichever thread stops it.
void Connection::Impl::watch_stop(std::uint64_t id) {
  const auto found = calls.find(id);
  if (found == calls.end() || !found->second.how.stop.stop_possible()) return;
  auto& call = found->second;
  call.stop.emplace(call.how.stop, [where = reactor, weak = weak_from_this(), id] {
    where->post([weak, id] {
      if (const auto self = weak.lock()) self->give_up(id, cancelled_by_caller());
    });
  });
}

void Connection::Impl::set_timer(std::uint64_t id, CallClock::TimePoint when) {
  calls.at(id).timer.expires_at(when, [weak = weak_from_this(), id] {
    if (const auto self = weak.lock()) self->expired(id);
  });
}

void Connection::Impl::expired(std::uint64_t id) {
  const auto found = calls.find(id);
  if (found == calls.end()) return;
  if (!found->second.held.empty()) return give_up(id, denied("nobody answered in time, which", ""));
  give_up(id, {.code = ErrorCode::timed_out, .text = "no answer before the deadline"});
}

void Connection::Impl::give_up(std::uint64_t id, Error why) {
  const auto reason =
      why.code == ErrorCode::timed_out ? "deadline passed" : "cancelled by the host";
  const auto found = calls.find(id);
  const bool was_sent = found != calls.end() && found->second.held.empty();
  // A queue too full for this line belongs to a connection that is stuck anyway.
  if (auto line = conversation.give_up(id, reason); line && was_sent) {
    static_cast<void>(send(*std::move(line)));
  }
  complete(id, std::unexpected(std::move(why)));
}

void Connection::Impl::give_up_all(const Error& why) {
  std::vector<std::uint64_t> open;
  open.reserve(calls.size());
  for (const auto& [id, call] : calls) open.push_back(id);
  for (const auto id : open) give_up(id, why);
}

void Connection::Impl::complete(std::uint64_t id, Result<std::string> result) {
  auto call = calls.extract(id);
  if (call.empty()) return;
  auto& over = call.mapped();
  over.timer.cancel();
  if (over.approval) over.approval->withdraw();
  post(std::move(over.done), std::move(result));
}

void Connection::Impl::ended(const Error& why) {
  const Error told = farewell.value_or(why);
  // What each attempt meets is the affair of reconnecting.
  if (options.on_ended && !reconnecting) run("on_ended", [&] { options.on_ended(told); });
  fail_all(told);
}

void Connection::Impl::fail_all(const Error& why) {
  take_all_questions_back();
  for (const auto id : conversation.give_up_all()) complete(id, std::unexpected(why));
}

void Connection::Impl::drop_connection(const Error& why) {
  channel->close();
  fail_all(why);
}

void Connection::Impl::run_what_is_left() {
  while (failure_of("a completion", [this] { reactor->drain(); })) {
  }
}

void Connection::Impl::close(const Error& why) {
  if (const auto going = std::exchange(reconnecting, nullptr)) going->stop(why);
  drop_connection(why);
}

void Connection::Impl::handle(std::string_view line) {
  if (options.on_frame)
    run("on_frame", [&] { options.on_frame(FrameDirection::from_daemon, line); });
  auto event = conversation.receive(line);
  if (!event) {
    channel->close();
    return ended(event.error());
  }
  handle(*std::move(event));
}

bool Connection::Impl::handle_long(const LongLine& line) {
  auto event = conversation.skipped(line);
  if (!event) return false;
  handle(*std::move(event));
  return true;
}

void Connection::Impl::handle(Event event) {
  std::visit([this](auto&& what) { handle(std::forward<decltype(what)>(what)); }, std::move(event));
}

void Connection::Impl::handle(Answered answer) { complete(answer.id, std::move(answer.result)); }

void Connection::Impl::handle(const Notified& notification) {
  if (options.on_notification) {
    run("on_notification",
        [&] { options.on_notification(notification.method, notification.params); });
  }
  if (notification.method == mcp::notification::progress) return tell_progress(notification);
  if (notification.method == mcp::notification::cancelled) {
    take_question_back(std::string(raw_member(notification.params, "requestId")));
  }
  tell_notices(notification);
}

void Connection::Impl::tell_notices(const Notified& notification) {
  // A copy: a handler may end the session.
  const auto tell = options.notices;
  if (tell.on_log && notification.method == mcp::notification::log_message) {
    if (const auto message = read_log_message(notification.params)) {
      run("on_log", [&] { tell.on_log(*message); });
    }
  }
  if (tell.on_resource_updated && notification.method == mcp::notification::resource_updated) {
    if (const auto uri = read_updated_uri(notification.params)) {
      run("on_resource_updated", [&] { tell.on_resource_updated(*uri); });
    }
  }
  if (tell.on_list_changed) {
    if (const auto list = changed_list(notification.method)) {
      run("on_list_changed", [&] { tell.on_list_changed(*list); });
    }
  }
}

void Connection::Impl::tell_progress(const Notified& notification) {
  const auto read = read_progress(notification.params);
  const auto found = read ? calls.find(read->token) : calls.end();
  if (found == calls.end() || !wants_progress(found->second.how)) return;
  auto& call = found->second;
  if (!call.held.empty() || !call.clock.progressed(read->progress.progress, Clock::now())) return;
  set_timer(read->token, call.clock.deadline());
  // A copy: the handler may end the call.
  const auto tell = call.how.on_progress;
  if (!tell) return;
  if (auto failure = run("on_progress", [&] { tell(read->progress); })) {
    give_up(read->token, *std::move(failure));
  }
}

void Connection::Impl::handle(const FailedUnnamed& failure) {
  if (calls.empty()) farewell = failure.error;
  fail_all(failure.error);
}

// For the host's log; one that throws as well is past help.
void Connection::Impl::report(const Error& failure) {
  if (!options.on_handler_failure) return;
  static_cast<void>(failure_of("on_handler_failure", [&] { options.on_handler_failure(failure); }));
}

}  // namespace cellblock::client
