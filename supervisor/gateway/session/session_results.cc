#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "policy/failures/failure.h"
#include "policy/rates/rate_text.h"
#include "supervisor/gateway/checks/kept_result_answers.h"
#include "supervisor/gateway/message/json_tree.h"
#include "supervisor/gateway/message/revisions.h"
#include "supervisor/gateway/message/session_failures.h"
#include "supervisor/gateway/records/audit_record.h"
#include "supervisor/gateway/session/session.h"

// The session's part that reads the rest of results that were cut.
namespace cellblock::gateway {

using wire::AuditKind;
using wire::AuditMethod;
using wire::AuditOutcome;

namespace {

constexpr std::string_view rule = "kept_result";

// Bounds of the reads of one session that wait for their records.
constexpr std::size_t most_reads = 64;
constexpr std::size_t longest_read = 128U << 10;

std::string name_in(std::string_view line, const Message& message) {
  const bool is_tool = kind_of(message.method) == CallKind::tool_call;
  return is_tool ? message.name_text : read_string(message.uri.in(line));
}

AuditMethod audit_method(const Message& message) {
  return kind_of(message.method) == CallKind::tool_call ? AuditMethod::tools_call
                                                        : AuditMethod::resources_read;
}

Failure not_recorded() {
  return plain_failure(FailureCode::audit_unavailable,
                       "the audit log cannot be written, so nothing new is called");
}

std::uint64_t microseconds(Time::duration time) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(time).count());
}

}  // namespace

/// One read that waits for its record.
struct Session::ResultRead {
  std::uint64_t call = 0;
  std::string line;
  Message message;
  CallSlot place;
  Time began;
};

bool Session::bounds_results() const {
  if (!kept_) return false;
  if (server_ != nullptr) return bounds_any(server_->results);
  for (std::size_t i = 0; i < config_.servers.size(); ++i) {
    if (access_.servers().contains(i) && bounds_any(config_.servers[i].results)) return true;
  }
  return false;
}

// Asks no rule, since it shows only results that this session has got already. It is work and hands
// out data, so it has a rate and a record as any call. If no result is bounded, the tool does not
// exist, and a server may have a tool of that name.
bool Session::answered_from_kept(std::string_view line, const Message& message, Time now) {
  if (!is_about_kept(line, message) || !bounds_results()) return false;
  auto place = place_for_read(line, now);
  if (!place) {
    refuse_read(line, message, place.error());
    return true;
  }
  // std::function needs a copyable closure, and a place in the rates cannot be copied.
  const auto read = std::make_shared<ResultRead>(ResultRead{.call = shared_.ids.next(),
                                                            .line = std::string(line),
                                                            .message = message,
                                                            .place = *std::move(place),
                                                            .began = now});
  effects_.record(this->place(), {.kind = AuditKind::call,
                                  .outcome = AuditOutcome::ok,
                                  .tool = name_in(line, message),
                                  .reason = rule,
                                  .call = read->call,
                                  .bytes = line.size(),
                                  .arguments = digest_in(line, message),
                                  .method = audit_method(message)});
  reads_.push_back(read);
  effects_.when_recorded(
      [this, read](AuditState log, Time later) { read_recorded(read, log, later); });
  return true;
}

Sha256 Session::digest_in(std::string_view line, const Message& message) const {
  const bool is_told = kind_of(message.method) == CallKind::tool_call &&
                       config_.audit.arguments != AuditArguments::none;
  return is_told ? argument_digest(message.arguments.in(line)) : Sha256{};
}

std::expected<CallSlot, Failure> Session::place_for_read(std::string_view line, Time now) {
  if (effects_.audit_state() == AuditState::broken) {
    return std::unexpected(not_recorded());
  }
  if (reads_.size() >= most_reads) {
    return std::unexpected(plain_failure(
        FailureCode::too_many,
        "more than " + std::to_string(most_reads) + " requests for kept results in flight"));
  }
  if (line.size() > longest_read) {
    return std::unexpected(line_too_large(line.size(), longest_read, nullptr));
  }
  CallWaiter& waiter = *this;
  auto place = shared_.policy.places.take(
      {.session = peer_.session, .server = CallSlots::no_server}, waiter, now);
  if (place) return *std::move(place);
  Failure failure = plain_failure(FailureCode::rate_limited, busy_text(place.error(), {}, {}));
  failure.retry_after = place.error().retry_after;
  return std::unexpected(std::move(failure));
}

void Session::refuse_read(std::string_view line, const Message& message, const Failure& failure) {
  effects_.record(place(), {.kind = AuditKind::call,
                            .outcome = AuditOutcome::denied,
                            .tool = name_in(line, message),
                            .reason = name_of(failure.code),
                            .bytes = line.size(),
                            .method = audit_method(message)});
  reply_to_host(
      failed_reply(message.id.in(line), kind_of(message.method), era_of(message), failure));
}

void Session::read_recorded(const std::shared_ptr<ResultRead>& read, AuditState log, Time now) {
  if (std::erase(reads_, read) == 0) return;  // the read ended with its session
  reply_to_host(answer_to_read(*read, log, now));
  end_if_answered(now);
}

// No host waits for these reads any more, and their records may come after the session's end.
void Session::end_reads(std::string_view reason, Time now) {
  for (const auto& read : std::exchange(reads_, {})) {
    const std::string name = name_in(read->line, read->message);
    effects_.record(place(), {.kind = AuditKind::call_ended,
                              .outcome = AuditOutcome::cancelled,
                              .tool = name,
                              .reason = reason,
                              .call = read->call,
                              .microseconds = microseconds(now - read->began),
                              .method = audit_method(read->message)});
  }
}

std::string Session::answer_to_read(const ResultRead& read, AuditState log, Time now) {
  AuditNote end{.kind = AuditKind::call_ended,
                .outcome = AuditOutcome::error,
                .reason = name_of(FailureCode::audit_unavailable),
                .call = read.call,
                .method = audit_method(read.message)};
  const std::string name = name_in(read.line, read.message);
  std::string reply;
  if (log == AuditState::broken) {
    reply = failed_reply(read.message.id.in(read.line), kind_of(read.message.method),
                         era_of(read.message), not_recorded());
  } else {
    ResultAnswer answer = answer_about_kept(read.line, read.message, *kept_, host_bound(), now);
    reply = std::move(answer.reply);
    if (answer.outcome == ReadOutcome::shown) end.outcome = AuditOutcome::ok;
    end.reason = answer.outcome == ReadOutcome::shown ? std::string_view{}
                                                      : name_of(FailureCode::invalid_arguments);
  }
  end.tool = name;
  end.bytes = reply.size();
  end.microseconds = microseconds(now - read.began);
  effects_.record(place(), end);
  return reply;
}

}  // namespace cellblock::gateway
