//! What this example uses of cellblock/cellblock.h and cellblock/cellblock_async.h, as they declare it.

use std::os::raw::{c_char, c_int, c_uint, c_void};

/// The library's handles: each is a pointer that only the library reads.
macro_rules! handles {
    ($($name:ident),*) => { $(
        #[repr(C)]
        pub struct $name {
            private: [u8; 0],
        }
    )* };
}

handles!(Call, Client, Decision, Error, Options, Reply, ResultHandle, Tools);

pub const OK: c_int = 0;
pub const ALLOW: c_int = 0;
pub const ASK: c_int = 1;
pub const DENY: c_int = 2;
pub const TOOL: c_int = 0;

pub type DoneFn = unsafe extern "C" fn(*mut c_void, c_int, *mut Error);
pub type ResultFn = unsafe extern "C" fn(*mut c_void, c_int, *mut ResultHandle, *mut Error);
pub type ToolsFn = unsafe extern "C" fn(*mut c_void, c_int, *mut Tools, *mut Error);
pub type DecideFn = unsafe extern "C" fn(*mut c_void, *const Call, *mut Decision);
pub type RequestFn = unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char, *mut Reply);
pub type EndedFn = unsafe extern "C" fn(*mut c_void, c_int, *const c_char);

#[repr(C)]
pub struct CallOptions {
    pub size: usize,
    pub timeout_ms: u64,
    pub at_most_ms: u64,
    pub on_progress: *const c_void,
    pub user: *mut c_void,
}

extern "C" {
    pub fn cellblock_code_name(code: c_int) -> *const c_char;
    pub fn cellblock_error_text(error: *const Error) -> *const c_char;
    pub fn cellblock_error_advice(error: *const Error) -> *const c_char;
    pub fn cellblock_error_failure(error: *const Error) -> *const c_char;
    pub fn cellblock_error_free(error: *mut Error);

    pub fn cellblock_options_new() -> *mut Options;
    pub fn cellblock_options_free(options: *mut Options);
    pub fn cellblock_options_identity(options: *mut Options, name: *const c_char, version: *const c_char) -> c_int;
    pub fn cellblock_options_capabilities(options: *mut Options, json: *const c_char) -> c_int;
    pub fn cellblock_options_rule(
        options: *mut Options, server: *const c_char, kind: c_int, name: *const c_char, verdict: c_int,
        reason: *const c_char,
    ) -> c_int;
    pub fn cellblock_options_otherwise(options: *mut Options, verdict: c_int) -> c_int;
    pub fn cellblock_options_on_approval(options: *mut Options, decide: DecideFn, user: *mut c_void) -> c_int;
    pub fn cellblock_options_on_request(options: *mut Options, handle: RequestFn, user: *mut c_void) -> c_int;
    pub fn cellblock_options_on_ended(options: *mut Options, handle: EndedFn, user: *mut c_void) -> c_int;

    pub fn cellblock_call_server(call: *const Call) -> *const c_char;
    pub fn cellblock_call_name(call: *const Call) -> *const c_char;
    pub fn cellblock_call_arguments(call: *const Call) -> *const c_char;
    pub fn cellblock_decide(decision: *mut Decision, verdict: c_int, reason: *const c_char);
    pub fn cellblock_decision_keep(decision: *mut Decision) -> *mut Decision;
    pub fn cellblock_decision_free(decision: *mut Decision);
    pub fn cellblock_reply_result(reply: *mut Reply, json: *const c_char);
    pub fn cellblock_reply_error(reply: *mut Reply, rpc_code: c_int, text: *const c_char);
    pub fn cellblock_reply_keep(reply: *mut Reply) -> *mut Reply;
    pub fn cellblock_reply_free(reply: *mut Reply);

    pub fn cellblock_fd(client: *const Client) -> c_int;
    pub fn cellblock_timeout(client: *const Client) -> c_int;
    pub fn cellblock_process(client: *mut Client, error: *mut *mut Error) -> c_int;
    pub fn cellblock_client_free(client: *mut Client);

    pub fn cellblock_connect_async(
        options: *const Options, done: DoneFn, user: *mut c_void, client: *mut *mut Client, error: *mut *mut Error,
    ) -> c_int;
    pub fn cellblock_attach_async(
        client: *mut Client, server: *const c_char, options: *const c_void, done: DoneFn, user: *mut c_void,
        error: *mut *mut Error,
    ) -> c_int;
    pub fn cellblock_initialize_async(
        client: *mut Client, timeout_ms: u64, done: ResultFn, user: *mut c_void, error: *mut *mut Error,
    ) -> c_int;
    pub fn cellblock_list_tools_async(
        client: *mut Client, timeout_ms: u64, done: ToolsFn, user: *mut c_void, error: *mut *mut Error,
    ) -> c_int;
    pub fn cellblock_call_tool_async(
        client: *mut Client, tool: *const c_char, arguments: *const c_char, options: *const CallOptions,
        done: ResultFn, user: *mut c_void, call: *mut u64, error: *mut *mut Error,
    ) -> c_int;
    pub fn cellblock_reconnect_async(
        client: *mut Client, attempts: c_uint, done: DoneFn, user: *mut c_void, error: *mut *mut Error,
    ) -> c_int;
    pub fn cellblock_cancel_call(client: *mut Client, call: u64);

    pub fn cellblock_result_json(result: *const ResultHandle, size: *mut usize) -> *const c_char;
    pub fn cellblock_result_text(result: *const ResultHandle, size: *mut usize) -> *const c_char;
    pub fn cellblock_result_is_error(result: *const ResultHandle) -> c_int;
    pub fn cellblock_result_free(result: *mut ResultHandle);
    pub fn cellblock_tools_count(tools: *const Tools) -> usize;
    pub fn cellblock_tools_name(tools: *const Tools, index: usize) -> *const c_char;
    pub fn cellblock_tools_free(tools: *mut Tools);
}
