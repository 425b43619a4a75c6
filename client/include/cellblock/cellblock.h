#pragma once

// NOLINTBEGIN: this is C
#include <stddef.h>
#include <stdint.h>

#include "cellblock/export.h"

/// @file
/// The C interface (C99) of libcellblock-client, for programs in C and for other languages: what
/// client.h is for C++. Blocking calls, each with a deadline. For a loop of the host's own:
/// cellblock_async.h, with the same clients.
///
/// Handles are opaque. Who gets one by a `_new` function or a pointer to a pointer owns it and
/// frees it by the `_free` function of its kind; null is nothing to free. What a getter returns
/// belongs to the handle that was asked, and goes with it.
///
/// Text is UTF-8 and ends with a NUL. Where a text of a server may have a NUL inside, its getter
/// also tells the size. It is untrusted: escape it before it is shown. JSON crosses as text.
///
/// Errors are returned, never thrown. A function that fails sets no output, but `*error` where
/// `error` is not null; one that succeeds sets `*error` to null. Arguments are not null unless it
/// says so: a null one is CELLBLOCK_INVALID_ARGUMENT, and a null handle has empty getters.
///
/// Threads: one thread at a time for one client and what it was made of; different clients know
/// nothing of each other. For any thread are cellblock_cancel(), and decisions and replies that
/// were kept. Callbacks run on the calling thread, inside whichever function waits; what they are
/// handed is gone when they return, unless it says otherwise. A callback that calls a function with
/// the same client is CELLBLOCK_IN_USE, but cellblock_cancel(), the functions of cellblock_async.h
/// that do not wait, and cellblock_client_free() are for callbacks too: what waits then returns
/// CELLBLOCK_CANCELLED.
///
/// After fork() a client belongs to the parent: in the child every function with it is
/// CELLBLOCK_OTHER_PROCESS, and cellblock_client_free() closes the descriptor and nothing more.
///
/// The interface grows: structs begin with their size, and enumerations get further values. Numbers
/// and functions keep their meaning as long as the library has the same SONAME.

#ifdef __cplusplus
extern "C" {
#endif

/// What became of a call. cellblock/error.h tells more of each.
typedef enum cellblock_code {
  CELLBLOCK_OK = 0,
  CELLBLOCK_INVALID_ARGUMENT = 1,
  CELLBLOCK_UNREACHABLE = 2,
  CELLBLOCK_NO_ACCESS = 3,
  CELLBLOCK_UNTRUSTED_LISTENER = 4,
  CELLBLOCK_DISCONNECTED = 5,
  CELLBLOCK_PROTOCOL = 6,
  CELLBLOCK_TOO_LARGE = 7,
  CELLBLOCK_TOO_MANY = 8,
  CELLBLOCK_TIMED_OUT = 9,
  CELLBLOCK_CANCELLED = 10,
  CELLBLOCK_DENIED_BY_HOST = 11,
  CELLBLOCK_REFUSED = 12,
  CELLBLOCK_APPROVAL_REQUIRED = 13,
  CELLBLOCK_SERVER_FAILED = 14,
  CELLBLOCK_HANDSHAKE_TIMEOUT = 15,
  CELLBLOCK_UNAVAILABLE = 16,
  CELLBLOCK_RPC = 17,
  CELLBLOCK_NO_MEMORY = 18,
  CELLBLOCK_INTERNAL = 19,        ///< a mistake in the library
  CELLBLOCK_HANDLER_FAILED = 20,  ///< a callback threw (of a host in C++)
  CELLBLOCK_IN_USE = 21,          ///< the client is in a call already: a callback called into it
  CELLBLOCK_OTHER_PROCESS = 22    ///< the client was made before fork(), and is the parent's
} cellblock_code;

/// "timed_out". Never null.
CELLBLOCK_CLIENT_API const char* cellblock_code_name(cellblock_code code);

/// The version of the library at run time: "0.1.0".
CELLBLOCK_CLIENT_API const char* cellblock_version(void);

// --- errors ------------------------------------------------------------------------------------

/// What went wrong.
typedef struct cellblock_error cellblock_error;

/// What the function returned.
CELLBLOCK_CLIENT_API cellblock_code cellblock_error_code(const cellblock_error* error);
/// One sentence. Text of cellblock is one line; text of a server is not escaped.
CELLBLOCK_CLIENT_API const char* cellblock_error_text(const cellblock_error* error);
/// What to do about it, or "": cellblock does not say.
CELLBLOCK_CLIENT_API const char* cellblock_error_advice(const cellblock_error* error);
/// Cellblock's stable code of the failure ("rate_limited", docs/errors.md), or "".
CELLBLOCK_CLIENT_API const char* cellblock_error_failure(const cellblock_error* error);
/// JSON-RPC `error.code`, or 0.
CELLBLOCK_CLIENT_API int cellblock_error_rpc_code(const cellblock_error* error);
/// JSON-RPC `error.data` as JSON text, or "".
CELLBLOCK_CLIENT_API const char* cellblock_error_data(const cellblock_error* error);
/// Null is nothing to free.
CELLBLOCK_CLIENT_API void cellblock_error_free(cellblock_error* error);

// --- permission: what the host lets its model do (cellblock/permission.h) -----------------------

/// Stricter ones are greater: the strictest counts.
typedef enum cellblock_verdict {
  CELLBLOCK_ALLOW = 0,
  CELLBLOCK_ASK = 1,
  CELLBLOCK_DENY = 2
} cellblock_verdict;

/// What a request is about.
typedef enum cellblock_kind {
  CELLBLOCK_TOOL = 0,
  CELLBLOCK_RESOURCE = 1,
  CELLBLOCK_PROMPT = 2,
  CELLBLOCK_OTHER = 3
} cellblock_kind;

/// A request that has not left yet.
typedef struct cellblock_call cellblock_call;

/// Members of the request, as CallToApprove in permission.h has them.
///@{
CELLBLOCK_CLIENT_API const char* cellblock_call_server(const cellblock_call* call);
CELLBLOCK_CLIENT_API cellblock_kind cellblock_call_kind(const cellblock_call* call);
CELLBLOCK_CLIENT_API const char* cellblock_call_method(const cellblock_call* call);
CELLBLOCK_CLIENT_API const char* cellblock_call_name(const cellblock_call* call);
CELLBLOCK_CLIENT_API const char* cellblock_call_arguments(const cellblock_call* call);
CELLBLOCK_CLIENT_API const char* cellblock_call_params(const cellblock_call* call);
CELLBLOCK_CLIENT_API const char* cellblock_call_reason(const cellblock_call* call);
///@}

/// Takes a callback's decision. A callback that returns without a decision has denied.
typedef struct cellblock_decision cellblock_decision;

/// `reason` may be null. Of an approval the first one counts, of a permission the last.
CELLBLOCK_CLIENT_API void cellblock_decide(cellblock_decision* decision, cellblock_verdict verdict,
                                           const char* reason);

/// In an approval callback: keeps the decision beyond the callback, for a person who needs time.
/// The client goes on meanwhile, in whichever function waits. Decide once, from any thread, and
/// free it: freeing an undecided one denies. Both are allowed when the client is gone, and have no
/// effect then. Null: no memory, or the decision is about a permission, which must be decided at
/// once.
CELLBLOCK_CLIENT_API cellblock_decision* cellblock_decision_keep(cellblock_decision* decision);
/// Frees a kept decision.
CELLBLOCK_CLIENT_API void cellblock_decision_free(cellblock_decision* decision);

/// Callback for permissions and approvals. Only an approval may wait for a person, or keep the
/// decision.
typedef void (*cellblock_decide_fn)(void* user, const cellblock_call* call,
                                    cellblock_decision* decision);

// --- options -----------------------------------------------------------------------------------

/// How to connect. Copied by cellblock_connect(); `user` pointers have to live as long as the
/// client. What a setter refuses, and what cannot mean what it says, is an error of
/// cellblock_connect() as well.
typedef struct cellblock_options cellblock_options;

/// `params` is a JSON object or "".
typedef void (*cellblock_notification_fn)(void* user, const char* method, const char* params);

/// A request of the server to this host. The first answer counts; without one it is an internal
/// error.
typedef struct cellblock_reply cellblock_reply;
/// Answers by `reply`.
typedef void (*cellblock_request_fn)(void* user, const char* method, const char* params,
                                     cellblock_reply* reply);
/// The answer: a result as JSON text, or an error.
///@{
CELLBLOCK_CLIENT_API void cellblock_reply_result(cellblock_reply* reply, const char* json);
CELLBLOCK_CLIENT_API void cellblock_reply_error(cellblock_reply* reply, int rpc_code,
                                                const char* text);
///@}
/// Keeps it beyond its callback, as cellblock_decision_keep(). Null: no memory.
CELLBLOCK_CLIENT_API cellblock_reply* cellblock_reply_keep(cellblock_reply* reply);
/// Not 0: not answered yet, and the server still waits. From any thread.
CELLBLOCK_CLIENT_API int cellblock_reply_is_wanted(const cellblock_reply* reply);
/// Frees a kept reply.
CELLBLOCK_CLIENT_API void cellblock_reply_free(cellblock_reply* reply);

/// The connection has ended, and not by the caller.
typedef void (*cellblock_ended_fn)(void* user, cellblock_code code, const char* text);

/// Null: no memory.
CELLBLOCK_CLIENT_API cellblock_options* cellblock_options_new(void);
/// May be called once cellblock_connect() has returned.
CELLBLOCK_CLIENT_API void cellblock_options_free(cellblock_options* options);

/// The daemon's socket; otherwise where one listens by default.
CELLBLOCK_CLIENT_API cellblock_code cellblock_options_socket(cellblock_options* options,
                                                             const char* path);
/// Told to the server.
CELLBLOCK_CLIENT_API cellblock_code cellblock_options_identity(cellblock_options* options,
                                                               const char* name,
                                                               const char* version);
/// MCP client capabilities, a JSON object.
CELLBLOCK_CLIENT_API cellblock_code cellblock_options_capabilities(cellblock_options* options,
                                                                   const char* json);
/// In bytes: the longest message in either direction.
CELLBLOCK_CLIENT_API cellblock_code cellblock_options_longest_message(cellblock_options* options,
                                                                      size_t bytes);
/// A rule for requests of one kind. `server` null: whichever. `name`: exact, or a beginning and
/// `*`. `reason` may be null. Of all that apply the strictest decides.
CELLBLOCK_CLIENT_API cellblock_code cellblock_options_rule(cellblock_options* options,
                                                           const char* server, cellblock_kind kind,
                                                           const char* name,
                                                           cellblock_verdict verdict,
                                                           const char* reason);
/// The verdict where no rule applies. Default: CELLBLOCK_ALLOW.
CELLBLOCK_CLIENT_API cellblock_code cellblock_options_otherwise(cellblock_options* options,
                                                                cellblock_verdict verdict);
/// Callbacks: null takes one away.
///@{
CELLBLOCK_CLIENT_API cellblock_code cellblock_options_on_permission(cellblock_options* options,
                                                                    cellblock_decide_fn decide,
                                                                    void* user);
CELLBLOCK_CLIENT_API cellblock_code cellblock_options_on_approval(cellblock_options* options,
                                                                  cellblock_decide_fn decide,
                                                                  void* user);
CELLBLOCK_CLIENT_API cellblock_code cellblock_options_on_notification(
    cellblock_options* options, cellblock_notification_fn handle, void* user);
CELLBLOCK_CLIENT_API cellblock_code cellblock_options_on_request(cellblock_options* options,
                                                                 cellblock_request_fn handle,
                                                                 void* user);
CELLBLOCK_CLIENT_API cellblock_code cellblock_options_on_ended(cellblock_options* options,
                                                               cellblock_ended_fn handle,
                                                               void* user);
///@}

// --- a connection ------------------------------------------------------------------------------

/// A connection, and what waits for it.
typedef struct cellblock_client cellblock_client;

/// `options` may be null.
CELLBLOCK_CLIENT_API cellblock_code cellblock_connect(const cellblock_options* options,
                                                      cellblock_client** client,
                                                      cellblock_error** error);
/// Ends the connection, if it has not ended. No other thread may be in a function with the client.
/// A callback may free the client that it is called by. Completions that wait are called, here or
/// when that callback has returned.
CELLBLOCK_CLIENT_API void cellblock_client_free(cellblock_client* client);

/// From any thread: ends the function that another thread waits in with this client. That function
/// returns CELLBLOCK_CANCELLED, and the server is told. Calls that begin later are not affected.
CELLBLOCK_CLIENT_API void cellblock_cancel(cellblock_client* client);

/// How to attach; begins as CELLBLOCK_ATTACH_OPTIONS_INIT.
typedef struct cellblock_attach_options {
  size_t size;            ///< sizeof(cellblock_attach_options)
  uint64_t timeout_ms;    ///< until the server runs
  const char* workspace;  ///< a directory for the server to see, or null
  const char* role;       ///< to be narrowed to, or null
  int on_demand;          ///< not 0: started by the first message that needs it
  /// Name, value, name, value, ..., null; or null.
  const char* const* labels;
  const char* tools;  ///< "all", "search" (ToolListing in types.h), or null: as it is configured
} cellblock_attach_options;
/// What holds where nothing is said.
#define CELLBLOCK_ATTACH_OPTIONS_INIT \
  {sizeof(cellblock_attach_options), 60000, NULL, NULL, 0, NULL, NULL}

/// `server` null: all that this user may use, as one. `options` may be null.
CELLBLOCK_CLIENT_API cellblock_code cellblock_attach(cellblock_client* client, const char* server,
                                                     const cellblock_attach_options* options,
                                                     cellblock_error** error);

/// `total` below 0: not known.
typedef void (*cellblock_progress_fn)(void* user, double progress, double total,
                                      const char* message);

/// For one call; begins as CELLBLOCK_CALL_OPTIONS_INIT.
typedef struct cellblock_call_options {
  size_t size;          ///< sizeof(cellblock_call_options)
  uint64_t timeout_ms;  ///< from when it is sent
  /// In all. More than `timeout_ms`: progress gives the call that time anew, up to this. Less: it
  /// is the deadline. 0: `timeout_ms` is.
  uint64_t at_most_ms;
  cellblock_progress_fn on_progress;  ///< or null
  void* user;                         ///< handed to it
} cellblock_call_options;
/// What holds where nothing is said.
#define CELLBLOCK_CALL_OPTIONS_INIT {sizeof(cellblock_call_options), 60000, 0, NULL, NULL}

/// What was answered.
typedef struct cellblock_result cellblock_result;

/// The result as the server wrote it. `size`, in bytes, may be null.
CELLBLOCK_CLIENT_API const char* cellblock_result_json(const cellblock_result* result,
                                                       size_t* size);
/// The text blocks of a tool's result, joined by newlines.
CELLBLOCK_CLIENT_API const char* cellblock_result_text(const cellblock_result* result,
                                                       size_t* size);
/// Not 0: the tool ran and says that it failed.
CELLBLOCK_CLIENT_API int cellblock_result_is_error(const cellblock_result* result);
/// Not 0: cellblock_bound_result() left something out.
CELLBLOCK_CLIENT_API int cellblock_result_is_bounded(const cellblock_result* result);
/// What its text costs in a model's context, roughly.
CELLBLOCK_CLIENT_API size_t cellblock_result_tokens(const cellblock_result* result);
/// Null is nothing to free.
CELLBLOCK_CLIENT_API void cellblock_result_free(cellblock_result* result);

/// MCP's handshake. `answer` may be null.
CELLBLOCK_CLIENT_API cellblock_code cellblock_initialize(cellblock_client* client,
                                                         uint64_t timeout_ms,
                                                         cellblock_result** answer,
                                                         cellblock_error** error);

/// A list of tools.
typedef struct cellblock_tools cellblock_tools;

/// All pages, within one deadline.
CELLBLOCK_CLIENT_API cellblock_code cellblock_list_tools(cellblock_client* client,
                                                         uint64_t timeout_ms,
                                                         cellblock_tools** tools,
                                                         cellblock_error** error);
/// How many.
CELLBLOCK_CLIENT_API size_t cellblock_tools_count(const cellblock_tools* tools);
/// Null beyond the last one. `json`: the whole definition. A tool whose name has a NUL inside
/// is not among them: it would look like another one.
///@{
CELLBLOCK_CLIENT_API const char* cellblock_tools_name(const cellblock_tools* tools, size_t index);
CELLBLOCK_CLIENT_API const char* cellblock_tools_description(const cellblock_tools* tools,
                                                             size_t index);
CELLBLOCK_CLIENT_API const char* cellblock_tools_json(const cellblock_tools* tools, size_t index);
///@}
/// Null is nothing to free.
CELLBLOCK_CLIENT_API void cellblock_tools_free(cellblock_tools* tools);

/// `arguments`: a JSON object; null: {}. `options` may be null.
CELLBLOCK_CLIENT_API cellblock_code cellblock_call_tool(cellblock_client* client, const char* tool,
                                                        const char* arguments,
                                                        const cellblock_call_options* options,
                                                        cellblock_result** result,
                                                        cellblock_error** error);
/// Any other request, likewise.
CELLBLOCK_CLIENT_API cellblock_code cellblock_request(cellblock_client* client, const char* method,
                                                      const char* params,
                                                      const cellblock_call_options* options,
                                                      cellblock_result** result,
                                                      cellblock_error** error);
/// Sends a notification: a message without an answer.
CELLBLOCK_CLIENT_API cellblock_code cellblock_notify(cellblock_client* client, const char* method,
                                                     const char* params, cellblock_error** error);

/// Lets callbacks run for this long while nothing is being called, or until the connection ends.
/// CELLBLOCK_DISCONNECTED: it has ended before.
CELLBLOCK_CLIENT_API cellblock_code cellblock_serve(cellblock_client* client, uint64_t duration_ms);

/// After a lost connection: connects, attaches and initializes as before, at most so many times (0:
/// as the library thinks right), with growing waits. No call is repeated.
CELLBLOCK_CLIENT_API cellblock_code cellblock_reconnect(cellblock_client* client, unsigned attempts,
                                                        cellblock_error** error);

// --- bounded results (cellblock/bounds.h) -------------------------------------------------------

/// See ResultBounds in bounds.h. Initialise with CELLBLOCK_BOUNDS_INIT.
typedef struct cellblock_bounds {
  size_t size;               ///< sizeof(cellblock_bounds)
  uint64_t max_bytes;        ///< of all texts
  uint64_t max_item_bytes;   ///< of one text
  uint64_t max_media_bytes;  ///< of images, audio and blobs, in base64
  uint64_t max_items;        ///< blocks, contents or messages
  uint64_t keep_bytes;       ///< how much of each part that is left out can be asked for
  const char* uri;           ///< told to the model as its name, with "/1", "/2", ...; or null
  const char* reader;        ///< a tool of the host's that reads on by it; or null
} cellblock_bounds;
/// The gateway's own bounds.
#define CELLBLOCK_BOUNDS_INIT {sizeof(cellblock_bounds), 40000, 40000, 6291456, 1000, 0, NULL, NULL}

/// A tool's result, made into a valid one within the bounds; the same one again where it is.
/// `bounds` may be null.
CELLBLOCK_CLIENT_API cellblock_code cellblock_bound_result(const cellblock_result* result,
                                                           const cellblock_bounds* bounds,
                                                           cellblock_result** bounded,
                                                           cellblock_error** error);

/// What a bounded result does not say any more: how many parts that is, the beginning of one, as
/// far as it is kept (null beyond the last), and how many bytes the whole of it has.
///@{
CELLBLOCK_CLIENT_API size_t cellblock_result_parts(const cellblock_result* result);
CELLBLOCK_CLIENT_API const char* cellblock_result_part(const cellblock_result* result, size_t index,
                                                       size_t* size);
CELLBLOCK_CLIENT_API uint64_t cellblock_result_part_bytes(const cellblock_result* result,
                                                          size_t index);
///@}

/// Up to `limit` bytes of a text of `size` bytes from `offset`, both moved down to where a
/// character begins: a pointer into `text`, with no NUL behind it; `*length` 0: there is no more.
CELLBLOCK_CLIENT_API const char* cellblock_page(const char* text, size_t size, size_t offset,
                                                size_t limit, size_t* length);

#ifdef __cplusplus
}
#endif

// NOLINTEND
