#pragma once

#include <unistd.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "cellblock/connection.h"
#include "client/connection/call_clock.h"
#include "client/connection/channel.h"
#include "client/connection/conversation.h"
#include "client/connection/handler_failure.h"
#include "client/connection/host_permissions.h"
#include "client/connection/reactor.h"
#include "client/connection/tool_text.h"
#include "client/lib/pending_answer.h"

/// The inside of a Connection: acts on what the conversation, the gate and the clocks decide.
namespace cellblock::client {

class Reconnecting;

struct OpenCall {
  OpenCall(std::shared_ptr<Reactor> reactor, CallOptions options,
           Completion<std::string> completion)
      : done(std::move(completion)), how(std::move(options)), timer(std::move(reactor)) {}

  Completion<std::string> done;
  CallOptions how;
  ReactorTimer timer;
  CallClock clock;                            ///< since it was sent
  std::string held;                           ///< not sent yet: waits for approval
  std::shared_ptr<PendingApproval> approval;  ///< the same
  std::optional<std::stop_callback<std::function<void()>>> stop;
};

/// The gateway asks whether a call of ours may be made.
struct Question {
  std::shared_ptr<PendingApproval> pending;
  std::uint64_t about = 0;  ///< the call, whose time stands still meanwhile; 0: not known
};

/// What reconnecting does again.
struct Attachment {
  std::string server;
  AttachOptions with;
  OwnedFd directory;  ///< a copy of the caller's, if one was passed
};

struct [[gnu::visibility("hidden")]] Connection::Impl
    : std::enable_shared_from_this<Connection::Impl> {
  explicit Impl(Options chosen);

  void connect(Completion<void> done);
  void attach(std::string_view server, const AttachOptions& with, const CallOptions& how,
              Completion<Attached> done);
  void initialize(const CallOptions& how, Completion<std::string> done);
  void reconnect(const ReconnectOptions& with, Completion<Attached> done);

  CallId request(std::string_view method, std::string_view params, const CallOptions& how,
                 Completion<std::string> done, OwnedFd attached = OwnedFd());
  void give_up(std::uint64_t id, Error why);
  void give_up_all(const Error& why);
  void close(const Error& why);
  void drop_connection(const Error& why);
  /// process() is not called any more: runs every remaining completion now, or, inside process(),
  /// before it returns.
  void run_what_is_left();

  /// Made before fork(), in the process that this is not.
  bool is_of_other_process() const { return process != ::getpid(); }

  Result<void> send(std::string line, OwnedFd attached = OwnedFd());

  template <class T>
  void post(Completion<T> done, Result<T> result) {
    reactor->post([done = std::move(done), result = std::move(result)]() mutable {
      done(std::move(result));
    });
  }

  std::shared_ptr<Reactor> reactor = std::make_shared<Reactor>();
  Options options;
  Conversation conversation;
  HostPermissions gate;
  std::shared_ptr<Channel> channel;
  std::map<std::uint64_t, OpenCall> calls;
  /// The daemon refuses a connection with an error before it has read anything. Later calls get
  /// that reason.
  std::optional<Error> farewell;
  std::optional<Attachment> attachment;
  bool is_initialized = false;
  bool is_attached = false;  ///< once at least: `attachment` is what the daemon agreed to
  bool is_judging = false;   ///< on_permission runs, inside request()
  bool is_released = false;  ///< its Connection has been destroyed
  /// Questions of the gateway that a person looks at, by their raw id.
  std::map<std::string, Question> questions;
  /// Requests of the server that the host has not answered yet, by their raw id.
  std::map<std::string, std::shared_ptr<PendingRequest>> requests;
  std::shared_ptr<Reconnecting> reconnecting;
  const pid_t process = ::getpid();

 private:
  void hold(std::uint64_t id, CallToApprove call);
  void approved(std::uint64_t id, const Decision& decision);
  bool send_call(std::uint64_t id, std::string line, OwnedFd attached = OwnedFd());
  void sent(std::uint64_t id);
  void watch_stop(std::uint64_t id);
  void set_timer(std::uint64_t id, CallClock::TimePoint when);
  void expired(std::uint64_t id);

  void handle(std::string_view line);
  bool handle_long(const LongLine& line);
  void handle(Event event);
  void handle(Ignored) {}
  void handle(Answered answer);
  void handle(const Notified& notification);
  void handle(const Asked& request);
  void handle(const Refused& request);
  void handle(const FailedUnnamed& failure);
  void ask_person(const std::string& id, ApprovalQuestion question);
  void person_answered(const std::string& id, Verdict verdict);
  void ask_for_approval(const CallToApprove& call, const std::shared_ptr<PendingApproval>& pending);
  void ask_host(const Asked& request);
  void host_answered(const std::string& id, const Result<std::string>& result);
  void answer(const std::string& id, const Result<std::string>& result);
  void take_question_back(const std::string& id);
  void take_all_questions_back();
  void tell_notices(const Notified& notification);
  void tell_progress(const Notified& notification);

  Result<std::string> answer_at_once(const Asked& request);

  /// Runs a handler; gives what it threw, of which the host has been told.
  template <class Call>
  std::optional<Error> run(std::string_view handler, Call&& call) {
    auto failure = failure_of(handler, std::forward<Call>(call));
    if (failure) report(*failure);
    return failure;
  }
  void report(const Error& failure);
  void ended(const Error& why);
  void fail_all(const Error& why);
  void complete(std::uint64_t id, Result<std::string> result);
};

}  // namespace cellblock::client
