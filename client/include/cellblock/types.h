#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "cellblock/completion.h"
#include "cellblock/error.h"
#include "cellblock/export.h"
#include "cellblock/notices.h"
#include "cellblock/permission.h"
#include "cellblock/server_request.h"

/// @file
/// What both faces (session.h: asynchronous, client.h: synchronous) speak of.
///
/// JSON crosses as text: the library then ties no program to a JSON library or to its version, and
/// a result reaches the caller byte for byte as the server wrote it.
namespace cellblock::client {

/// Bounds, so that neither a peer nor a busy caller can make this process grow without end.
struct Limits {
  std::size_t incoming_line = 10U << 20;   ///< bytes of one message from the daemon
  std::size_t outgoing_line = 8U << 20;    ///< bytes of one message to it (the daemon's default)
  std::size_t outgoing_queue = 32U << 20;  ///< bytes waiting to be sent
  std::size_t calls_in_flight = 1024;      ///< those that wait for a person included
  std::size_t list_pages = 64;             ///< of one list
  std::size_t list_items = 10'000;         ///< of one list
};

/// A message of the server that answers nothing. `params` is a JSON object as text, or empty.
using NotificationHandler = std::function<void(std::string_view method, std::string_view params)>;

/// Which way a frame goes.
enum class FrameDirection : std::uint8_t { to_daemon, from_daemon };

/// Sees each line of the connection, cellblock's own requests included: as it is, untrusted,
/// without its newline, valid during the call. What is sent is seen when it is queued, what is
/// received before anything else is done with it. Not for changing anything, nor for calls into the
/// session.
using FrameObserver = std::function<void(FrameDirection direction, std::string_view frame)>;

/// The connection has ended, and not by close(): once, from the executor, before the calls that
/// were open are completed with the same error.
using EndHandler = std::function<void(const Error& why)>;

/// One of the host's handlers threw. The operation it was called for has failed already; this is
/// for the host's log. If a call was concerned, the call has ended with the same error.
using HandlerFailureHandler = std::function<void(const Error& what)>;

/// Checked by connect(): what cannot mean what it says is `invalid_argument`.
struct Options {
  std::string socket = {};                       ///< empty: default_socket_path()
  Limits limits = {};                            ///< bounds of this connection
  std::string client_name = "cellblock-client";  ///< told to the server
  std::string client_version = "0.1.0";          ///< likewise
  std::string capabilities = "{}";               ///< MCP client capabilities, a JSON object
  NotificationHandler on_notification = {};      ///< hears of all that answers nothing
  /// Questions of the server: answered by what it returns, or later from any thread. One of both;
  /// none: every question is answered -32601.
  RequestHandler on_request = {};
  ServerRequestHandler on_server_request = {};    ///< or this one
  FrameObserver on_frame = {};                    ///< sees each line
  EndHandler on_ended = {};                       ///< hears that the connection is lost
  HandlerFailureHandler on_handler_failure = {};  ///< hears of handlers that threw
  NoticeHandlers notices = {};                    ///< hear of what servers announce
  PermissionRules permission = {};                ///< the host's own
  PermissionHandler on_permission = {};           ///< asked after the rules
  ApprovalHandler on_approval = {};               ///< none: what would be asked is denied
  /// How long a person may think; then it is denied. Calls that wait count as in flight.
  std::chrono::milliseconds approval_timeout{120'000};
};

/// For one call.
struct CallOptions {
  /// Counts from the sending.
  std::chrono::milliseconds timeout{60'000};
  std::stop_token stop = {};  ///< ends it early, from any thread: `cancelled`, the server is told
  /// How long the call may take in all. More than `timeout`: progress that rises gives the call
  /// `timeout` anew, up to this. Less: it is the deadline. 0: `timeout` is.
  std::chrono::milliseconds at_most{0};
  ProgressHandler on_progress = {};  ///< hears of the call's progress
};

/// How Session::reconnect and Client::reconnect try again: at once, then after `first_wait`, then
/// twice as long each time. Of each wait up to half is left to chance, so that many hosts do not
/// come back together.
struct ReconnectOptions {
  unsigned attempts = 6;                             ///< at most
  std::chrono::milliseconds first_wait{100};         ///< after the first attempt
  std::chrono::milliseconds longest_wait{5'000};     ///< no wait is longer
  std::chrono::milliseconds attach_timeout{60'000};  ///< of each attempt, also for the handshake
};

/// The socket of a daemon: CELLBLOCK_SOCKET in the environment; else the user's own daemon
/// ($XDG_RUNTIME_DIR/cellblock/cellblock.sock) if it is there; else /run/cellblock/cellblock.sock.
CELLBLOCK_CLIENT_API std::string default_socket_path();

/// What runs in the cell.
enum class CellProgram : std::uint8_t {
  server,
  probe,  ///< cellblock's own, in a cell that is in all else the server's: one tool, `run`
};

/// When the server is started for this session.
enum class StartWhen : std::uint8_t {
  now,        ///< attaching ends when it runs
  on_demand,  ///< attaching ends at once; what fails later is the answer to what needed it
};

/// Which tools the session's tools/list has.
enum class ToolListing : std::uint8_t {
  standard,  ///< as the configuration says: all, unless it says otherwise of all servers as one
  all,       ///< every tool that the user may use
  search,    ///< `cellblock_find_tools`, `cellblock_call_tool`, and what is `always_listed`
};

/// What goes along with an attach. A workspace is a directory that the server is to see at
/// /workspace, if its declaration allows it to.
struct AttachOptions {
  std::string workspace = {};     ///< a path, opened (O_PATH) by this process; empty: none
  int workspace_descriptor = -1;  ///< or a directory that is open: it stays the caller's
  CellProgram program = CellProgram::server;  ///< what runs
  StartWhen start = StartWhen::now;           ///< when it is started
  /// For whom the session works, for the audit log: at most 8 labels, names of [a-z0-9_.-]{1,32},
  /// values of at most 128 printable bytes. No permission depends on them.
  std::map<std::string, std::string> labels = {};
  /// The role that the session narrows itself to; empty: all that the user may do. For good on this
  /// connection.
  std::string role = {};
  /// A list that leaves room in a model's context. With `search`, call_tool() of any tool works as
  /// before, under its own name; list_tools() has few, and the result of `cellblock_find_tools`
  /// names others, with their input schemas, that fit its `words`.
  ToolListing tools = ToolListing::standard;
};

/// A session with a server.
struct Attached {
  std::string server = {};   ///< as the daemon names it
  std::string session = {};  ///< its number, as the audit log has it
  std::string cell = {};     ///< empty: none has been started yet
  bool workspace = false;    ///< the server sees the directory that was passed
};

/// What a model may call.
struct Tool {
  std::string name = {};         ///< by which it is called
  std::string description = {};  ///< untrusted text; may be empty
  std::string json = {};         ///< the whole definition, as the server wrote it
};

/// What a host may read.
struct Resource {
  std::string uri = {};          ///< by which it is read
  std::string name = {};         ///< untrusted text, as all that follows; may be empty
  std::string description = {};  ///< may be empty
  std::string json = {};         ///< the whole definition, as the server wrote it
};

/// Resources whose URIs are made from a template of RFC 6570.
struct ResourceTemplate {
  std::string uri_template = {};  ///< with variables in braces
  std::string name = {};          ///< untrusted text, as all that follows; may be empty
  std::string description = {};   ///< may be empty
  std::string json = {};          ///< the whole definition, as the server wrote it
};

/// A text that a server writes for a model.
struct Prompt {
  std::string name = {};         ///< by which it is asked for
  std::string description = {};  ///< untrusted text; may be empty
  std::string json = {};         ///< the whole definition, as the server wrote it
};

/// What complete() asks about: an argument of a prompt, or of a resource template. One of both.
struct ArgumentToComplete {
  std::string prompt = {};                         ///< its name
  std::string resource_template = {};              ///< its URI template
  std::string argument = {};                       ///< the name of the argument
  std::string value = {};                          ///< as far as it has been typed
  std::map<std::string, std::string> others = {};  ///< arguments that are known already
};

/// What a tool answered.
struct ToolResult {
  std::string json = {};  ///< the whole result, as the server wrote it
  std::string text = {};  ///< its text blocks, joined by newlines. Untrusted
  bool is_error = false;  ///< the tool ran and says that it failed
};

}  // namespace cellblock::client
