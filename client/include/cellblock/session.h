#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cellblock/export.h"
#include "cellblock/types.h"

/// The asynchronous face: one connection to cellblock, on the caller's Asio executor.
///
/// Threads: a session is not locked. Call it only from its executor, and let that be a strand if
/// several threads run the context. What may come from any thread: CallOptions::stop, and the
/// answer to an approval or to a question of the server. Every completion and handler runs there,
/// never inside the call that started it, but for Options::on_permission; exactly once each, also
/// when the session is closed or destroyed. Handlers may call into their session, and destroy it.
///
/// What a handler throws is caught (Options::on_handler_failure). What a completion throws passes
/// through the executor to whoever runs it, and the session goes on.
///
/// After fork() a session belongs to the parent: in the child every operation is `other_process`,
/// and destroying it closes the descriptor and nothing more. The child must not run the executor's
/// context. One that was moved from is `disconnected`.
///
/// Build against the same Boost as the library: the executor crosses as it is.
namespace cellblock::client {

/// A deadline that never comes.
inline constexpr std::chrono::milliseconds no_deadline = std::chrono::milliseconds::max();

/// Names a call for cancel().
enum class CallId : std::uint64_t { none = 0 };

class CELLBLOCK_CLIENT_API Session {
 public:
  struct Impl;  ///< the library's own

  Session(boost::asio::any_io_executor executor, Options options);
  /// As close(). Completions still run; they hold nothing of the session.
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  /// Holds the options to what they can mean (`invalid_argument`), reaches the daemon, and proves
  /// that its listener is root, this user, or placed by them, before a byte is sent. A full backlog
  /// is retried for about two seconds.
  void connect(Completion<void> done);

  /// Starts a cell of this server for this connection; done when its program runs. Once only.
  void attach(std::string_view server, std::chrono::milliseconds deadline,
              Completion<Attached> done);

  /// The same with a workspace or for the probe. invalid_argument, if the directory cannot be
  /// opened.
  void attach(std::string_view server, const AttachOptions& with,
              std::chrono::milliseconds deadline, Completion<Attached> done);

  /// MCP's handshake (revision 2025-11-25). Gives the server's answer as JSON text.
  void initialize(std::chrono::milliseconds deadline, Completion<std::string> done);

  /// All pages, within one deadline and the bounds of Limits.
  void list_tools(std::chrono::milliseconds deadline, Completion<std::vector<Tool>> done);

  /// `arguments` is a JSON object. When the deadline passes the server is told to stop. Where
  /// progress is wanted the library adds `_meta.progressToken`.
  CallId call_tool(std::string_view tool, std::string_view arguments,
                   std::chrono::milliseconds deadline, Completion<ToolResult> done);
  CallId call_tool(std::string_view tool, std::string_view arguments, const CallOptions& options,
                   Completion<ToolResult> done);

  /// Any other request; `params` is a JSON object. Gives the result as JSON text.
  CallId request(std::string_view method, std::string_view params,
                 std::chrono::milliseconds deadline, Completion<std::string> done);
  CallId request(std::string_view method, std::string_view params, const CallOptions& options,
                 Completion<std::string> done);

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

  /// Ends the connection; open calls complete with `cancelled`.
  void close();

 private:
  boost::asio::any_io_executor executor_;  ///< also of what was moved from, for its completions
  std::shared_ptr<Impl> impl_;
};

}  // namespace cellblock::client
