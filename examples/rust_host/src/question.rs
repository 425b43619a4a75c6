//! What the library asks its host: kept beyond the callback, and answered from any thread.

use std::ffi::{CStr, CString};
use std::os::raw::{c_char, c_int, c_void};

use tokio::sync::mpsc::UnboundedSender;

use crate::abi;

pub enum Event {
    /// A call that has not left yet, or one about which a rule of the administrator's asks this user.
    Approval(Approval),
    /// A request of the server's, such as `elicitation/create`.
    Request(Request),
    /// The connection has ended, and not by this host.
    Ended(String),
}

/// Untrusted texts.
pub struct Approval {
    pub server: String,
    pub tool: String,
    pub arguments: String,
    decision: *mut abi::Decision,
}

pub struct Request {
    pub method: String,
    pub params: String,
    reply: *mut abi::Reply,
}

// What was kept may be answered and freed from any thread, also when its client has gone.
unsafe impl Send for Approval {}
unsafe impl Send for Request {}

impl Approval {
    pub fn allow(self) {
        unsafe { abi::cellblock_decide(self.decision, abi::ALLOW, std::ptr::null()) };
    }

    pub fn deny(self, reason: &str) {
        let reason = text_for_c(reason);
        unsafe { abi::cellblock_decide(self.decision, abi::DENY, reason.as_ptr()) };
    }
}

// Not decided: denied.
impl Drop for Approval {
    fn drop(&mut self) {
        unsafe { abi::cellblock_decision_free(self.decision) };
    }
}

impl Request {
    /// `json`: the result.
    pub fn answer(self, json: &str) {
        let json = text_for_c(json);
        unsafe { abi::cellblock_reply_result(self.reply, json.as_ptr()) };
    }

    pub fn refuse(self, rpc_code: i32, text: &str) {
        let text = text_for_c(text);
        unsafe { abi::cellblock_reply_error(self.reply, rpc_code, text.as_ptr()) };
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        unsafe { abi::cellblock_reply_free(self.reply) };
    }
}

/// What a callback's `user` points to: where events go.
pub type Events = UnboundedSender<Event>;

/// Up to a NUL, which no text of a C interface has inside.
pub fn text_for_c(text: &str) -> CString {
    let end = text.find('\0').unwrap_or(text.len());
    CString::new(&text[..end]).unwrap_or_default()
}

/// Empty where it is null.
///
/// # Safety
/// `text` is null, or ends with a NUL.
pub unsafe fn text_of(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    CStr::from_ptr(text).to_string_lossy().into_owned()
}

// An event that nobody takes any more is dropped, which denies and refuses.
unsafe fn send(user: *mut c_void, event: Event) {
    let _ = (*(user as *const Events)).send(event);
}

pub unsafe extern "C" fn on_approval(user: *mut c_void, call: *const abi::Call, decision: *mut abi::Decision) {
    let kept = abi::cellblock_decision_keep(decision);
    if kept.is_null() {
        return; // not decided: denied
    }
    let approval = Approval {
        server: text_of(abi::cellblock_call_server(call)),
        tool: text_of(abi::cellblock_call_name(call)),
        arguments: text_of(abi::cellblock_call_arguments(call)),
        decision: kept,
    };
    send(user, Event::Approval(approval));
}

pub unsafe extern "C" fn on_request(
    user: *mut c_void, method: *const c_char, params: *const c_char, reply: *mut abi::Reply,
) {
    let kept = abi::cellblock_reply_keep(reply);
    if kept.is_null() {
        return; // not answered: an error
    }
    send(user, Event::Request(Request { method: text_of(method), params: text_of(params), reply: kept }));
}

pub unsafe extern "C" fn on_ended(user: *mut c_void, _code: c_int, text: *const c_char) {
    send(user, Event::Ended(text_of(text)));
}
