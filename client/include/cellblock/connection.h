#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cellblock/export.h"
#include "cellblock/types.h"

/// @file
/// The face without a loop of its own: one connection to cellblock, for a host that waits itself
/// (poll, epoll, GLib, Qt, libuv). client.h waits for it; session.h is the same on Asio.
///
///     struct pollfd waited = {connection.descriptor(), connection.events(), 0};
///     ::poll(&waited, 1, static_cast<int>(connection.timeout().count()));  // as far as it fits
///     connection.process();
///
/// Nothing here waits, and nothing starts a thread. Completions and handlers run in process(),
/// never inside the call that started them, but for Options::on_permission; a completion exactly
/// once, also when the connection is closed or destroyed. They may call into their connection and
/// destroy it; process() inside of process() does nothing. What a handler throws is caught
/// (Options::on_handler_failure); what a completion throws passes through process(), and the rest
/// comes with the next one.
///
/// Threads: one at a time. From any thread: post(), CallOptions::stop, and the answer to an
/// approval or to a question of the server; each wakes whoever waits for the descriptor.
///
/// After fork() a connection belongs to the parent: in the child every operation is
/// `other_process`, and destroying it closes its descriptors and nothing more. There, and after it
/// was moved from (`disconnected`), a completion runs inside the call, since nothing is waited for.
namespace cellblock::client {

/// A deadline that never comes.
inline constexpr std::chrono::milliseconds no_deadline = std::chrono::milliseconds::max();

/// Names a call for cancel().
enum class CallId : std::uint64_t { none = 0 };

/// A connection that a host waits for itself.
class CELLBLOCK_CLIENT_API Connection {
 public:
  struct Impl;  ///< the library's own
  /// The type of deadline().
  using TimePoint = std::chrono::steady_clock::time_point;

  /// Does nothing yet: connect() does.
  explicit Connection(Options options);
  /// Calls close(). Completions that have not run yet run here; if process() called the code that
  /// destroys the connection, they run when process() returns. If on_permission destroys it outside
  /// of process(), the completion of the request it was asked about (`disconnected`) runs inside
  /// the call that made the request.
  ~Connection();
  /// The other one is `disconnected`; what was here is closed.
  ///@{
  Connection(Connection&&) noexcept;
  Connection& operator=(Connection&&) noexcept;
  ///@}

  /// To wait for, the same as long as the connection lives, also over reconnect(); it stays the
  /// connection's. -1: there is none (a process without free descriptors, where connect() fails; a
  /// child of fork()).
  int descriptor() const;
  /// The events for poll(2).
  short events() const;
  /// How long to wait at most: 0: not at all. no_deadline: for the descriptor alone.
  std::chrono::milliseconds timeout() const;
  /// The same as a time: of the next deadline or retry. TimePoint::max(): there is none.
  TimePoint deadline() const;
  /// Whether anything may happen by itself: it is connected, or a completion or a retry is due.
  bool is_active() const;

  /// Does all that can be done without waiting.
  Result<void> process();

  /// From any thread: `task` runs in process(), after the tasks posted before.
  void post(std::function<void()> task) const;

  /// Holds the options to what they can mean (`invalid_argument`), reaches the daemon, and proves
  /// that its listener is root, this user, or placed by them, before a byte is sent. A full backlog
  /// is retried for about two seconds.
  void connect(Completion<void> done);

  /// Starts a cell of this server for this connection; done when its program runs. Once only.
  /// Empty: all that this user may use, as one. invalid_argument, if the workspace cannot be
  /// opened.
  void attach(std::string_view server, const AttachOptions& with,
              std::chrono::milliseconds deadline, Completion<Attached> done);
  /// `options.stop` ends the wait, and not what the daemon has begun: close() does.
  void attach(std::string_view server, const AttachOptions& with, const CallOptions& options,
              Completion<Attached> done);

  /// MCP's handshake (revision 2025-11-25). Gives the server's answer as JSON text.
  ///@{
  void initialize(std::chrono::milliseconds deadline, Completion<std::string> done);
  void initialize(const CallOptions& options, Completion<std::string> done);
  ///@}

  /// All pages, within one deadline and the bounds of Limits.
  void list_tools(std::chrono::milliseconds deadline, Completion<std::vector<Tool>> done);
  /// The same; `options` counts for all pages together. Lists make no progress.
  void list_tools(const CallOptions& options, Completion<std::vector<Tool>> done);

  /// `arguments` is a JSON object. When the deadline passes the server is told to stop. Where
  /// progress is wanted the library adds `_meta.progressToken`. CallId::none: it has failed
  /// already.
  CallId call_tool(std::string_view tool, std::string_view arguments, const CallOptions& options,
                   Completion<ToolResult> done);

  /// `resources/list`, as list_tools().
  void list_resources(const CallOptions& options, Completion<std::vector<Resource>> done);
  /// `resources/templates/list`, as list_tools().
  void list_resource_templates(const CallOptions& options,
                               Completion<std::vector<ResourceTemplate>> done);
  /// `resources/read`: the result as JSON text, for bounded().
  CallId read_resource(std::string_view uri, const CallOptions& options,
                       Completion<std::string> done);
  /// `resources/subscribe`: NoticeHandlers::on_resource_updated hears of changes.
  CallId subscribe(std::string_view uri, const CallOptions& options, Completion<void> done);
  /// `resources/unsubscribe`.
  CallId unsubscribe(std::string_view uri, const CallOptions& options, Completion<void> done);

  /// `prompts/list`, as list_tools().
  void list_prompts(const CallOptions& options, Completion<std::vector<Prompt>> done);
  /// `prompts/get`: the result as JSON text, for bounded(). `arguments` is a JSON object of texts.
  CallId get_prompt(std::string_view prompt, std::string_view arguments, const CallOptions& options,
                    Completion<std::string> done);

  /// `completion/complete`: the result as JSON text.
  CallId complete(const ArgumentToComplete& what, const CallOptions& options,
                  Completion<std::string> done);
  /// `logging/setLevel`: NoticeHandlers::on_log hears this level and what is graver.
  CallId set_log_level(LogLevel level, const CallOptions& options, Completion<void> done);
  /// `ping`: whether the server answers.
  CallId ping(const CallOptions& options, Completion<void> done);

  /// Any other request; `params` is a JSON object. Gives the result as JSON text.
  CallId request(std::string_view method, std::string_view params, const CallOptions& options,
                 Completion<std::string> done);

  /// Sends a notification: a message without an answer.
  Result<void> notify(std::string_view method, std::string_view params);

  /// Completes that call with `cancelled` and tells the server. Nothing, if it has ended already.
  void cancel(CallId call);

  /// The same for every call that is open, and for reconnect().
  void cancel_all();

  /// After the connection was lost: connects again, attaches to the same server with the same
  /// options, and says MCP's handshake if it was said before. What was in flight has failed with
  /// `disconnected` and is not repeated: only the caller knows what may be done twice.
  /// Subscriptions and everything else that the server knew of the old session is gone. What cannot
  /// pass by itself (`refused`, `server_failed`, `no_access`, ...) is not tried again. Connected
  /// still: that connection is given up first.
  void reconnect(const ReconnectOptions& with, Completion<Attached> done);

  /// Ends the connection; open calls complete with `cancelled`, in process().
  void close();

  /// For an adaptor whose loop has ended: completions are destroyed from now on, and do not run.
  void discard();

  /// The connection was made before fork(), in another process.
  bool is_of_other_process() const;

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace cellblock::client
