#pragma once

// NOLINTBEGIN: this is C
#include "cellblock/cellblock.h"

/// @file
/// The C interface for a loop of the host's own (poll, epoll, GLib, asyncio, libuv): nothing here
/// waits, and no thread is started. What connection.h is for C++.
///
/// The host waits for cellblock_fd(), for no longer than cellblock_timeout(), and then calls
/// cellblock_process(), which never waits; so does no function that ends in `_async`. Each of those
/// either fails (not CELLBLOCK_OK: its completion is never called), or has its completion called
/// exactly once: by cellblock_process(), by a blocking function of the same client that waits, or
/// by cellblock_client_free(), with CELLBLOCK_CANCELLED. Never inside the call itself.
///
/// `user` is handed to the completion. What else it is handed is its own: it frees results, tools
/// and errors. `code` says whether it went well: then there is no error, and a result or tools.
/// Else there are none; `error` is null as well where there was no memory.
///
///     struct pollfd waited = {cellblock_fd(client), 0, 0};
///     waited.events = cellblock_events(client);
///     poll(&waited, 1, cellblock_timeout(client));
///     cellblock_process(client, NULL);
///
/// Threads: as in cellblock.h. Questions and approvals are kept (cellblock_reply_keep(),
/// cellblock_decision_keep()) and answered from any thread, which makes the descriptor readable, as
/// cellblock_wake() and cellblock_cancel_call() do. Completions and handlers may call the functions
/// that end in `_async`, but a handler of on_permission, which is inside one of them: that call is
/// CELLBLOCK_IN_USE, and its completion says so.

#ifdef __cplusplus
extern "C" {
#endif

/// Completions, of what has no result, a result, or tools.
///@{
typedef void (*cellblock_done_fn)(void* user, cellblock_code code, cellblock_error* error);
typedef void (*cellblock_result_fn)(void* user, cellblock_code code, cellblock_result* result,
                                    cellblock_error* error);
typedef void (*cellblock_tools_fn)(void* user, cellblock_code code, cellblock_tools* tools,
                                   cellblock_error* error);
///@}

/// The client's, and the same as long as it lives, also over reconnecting. -1: it has none (a child
/// of fork()).
CELLBLOCK_CLIENT_API int cellblock_fd(const cellblock_client* client);
/// The events for poll(2). Ask before each poll: another version may wait for others.
CELLBLOCK_CLIENT_API short cellblock_events(const cellblock_client* client);
/// The timeout for poll(2), in milliseconds; 0: there is work now; -1: no deadline. Each function
/// that is called with the client may change it.
CELLBLOCK_CLIENT_API int cellblock_timeout(const cellblock_client* client);
/// Runs what is due. CELLBLOCK_HANDLER_FAILED: a completion (of a host in C++) threw; the rest was
/// done. The end of the connection is no error of this function.
CELLBLOCK_CLIENT_API cellblock_code cellblock_process(cellblock_client* client,
                                                      cellblock_error** error);
/// From any thread: makes the descriptor readable until the next cellblock_process().
CELLBLOCK_CLIENT_API void cellblock_wake(cellblock_client* client);

/// `*client` is there at once, to be waited for; where it fails later it is still freed. `options`
/// may be null.
CELLBLOCK_CLIENT_API cellblock_code cellblock_connect_async(const cellblock_options* options,
                                                            cellblock_done_fn done, void* user,
                                                            cellblock_client** client,
                                                            cellblock_error** error);
/// Like the functions of cellblock.h without `_async`.
///@{
CELLBLOCK_CLIENT_API cellblock_code cellblock_attach_async(cellblock_client* client,
                                                           const char* server,
                                                           const cellblock_attach_options* options,
                                                           cellblock_done_fn done, void* user,
                                                           cellblock_error** error);
CELLBLOCK_CLIENT_API cellblock_code cellblock_initialize_async(cellblock_client* client,
                                                               uint64_t timeout_ms,
                                                               cellblock_result_fn done, void* user,
                                                               cellblock_error** error);
CELLBLOCK_CLIENT_API cellblock_code cellblock_list_tools_async(cellblock_client* client,
                                                               uint64_t timeout_ms,
                                                               cellblock_tools_fn done, void* user,
                                                               cellblock_error** error);
///@}
/// `call`, which may be null: for cellblock_cancel_call(); 0: it has failed already, which its
/// completion tells.
///@{
CELLBLOCK_CLIENT_API cellblock_code
cellblock_call_tool_async(cellblock_client* client, const char* tool, const char* arguments,
                          const cellblock_call_options* options, cellblock_result_fn done,
                          void* user, uint64_t* call, cellblock_error** error);
CELLBLOCK_CLIENT_API cellblock_code cellblock_request_async(cellblock_client* client,
                                                            const char* method, const char* params,
                                                            const cellblock_call_options* options,
                                                            cellblock_result_fn done, void* user,
                                                            uint64_t* call,
                                                            cellblock_error** error);
///@}
/// Like cellblock_reconnect().
CELLBLOCK_CLIENT_API cellblock_code cellblock_reconnect_async(cellblock_client* client,
                                                              unsigned attempts,
                                                              cellblock_done_fn done, void* user,
                                                              cellblock_error** error);
/// From any thread: the call completes with CELLBLOCK_CANCELLED in the next cellblock_process(),
/// and the server is told. No effect on a call that has ended.
CELLBLOCK_CLIENT_API void cellblock_cancel_call(cellblock_client* client, uint64_t call);

#ifdef __cplusplus
}
#endif

// NOLINTEND
