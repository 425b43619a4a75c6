//! The asynchronous half of the C interface as futures: nothing here waits, and the connection is served by a task on
//! this thread's `LocalSet`, which waits for the library's descriptor.

use std::cell::Cell;
use std::fmt;
use std::io;
use std::os::raw::{c_int, c_void};
use std::ptr;
use std::rc::Rc;
use std::time::Duration;

use tokio::io::unix::AsyncFd;
use tokio::io::Interest;
use tokio::sync::{oneshot, Notify};
use tokio::task::JoinHandle;

use crate::abi;
use crate::question::{self, text_for_c, text_of, Events};

const HANDSHAKE_MS: u64 = 60_000;

#[derive(Debug)]
pub struct Error {
    /// "timed_out", as cellblock_code_name() has it.
    pub code: String,
    pub text: String,
    /// What to do about it; empty: cellblock does not say.
    pub advice: String,
    /// Of docs/errors.md; empty: none.
    pub failure: String,
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.code, self.text)?;
        if self.advice.is_empty() { Ok(()) } else { write!(out, "\n{}", self.advice) }
    }
}

impl std::error::Error for Error {}

/// Texts of a server: untrusted.
#[derive(Debug)]
pub struct Answer {
    pub json: String,
    pub text: String,
    pub is_error: bool,
}

#[derive(Clone, Copy)]
pub enum Verdict {
    Allow,
    Ask,
    Deny,
}

pub struct Rule<'a> {
    /// Exact, or a beginning and `*`.
    pub tool: &'a str,
    pub verdict: Verdict,
    pub reason: &'a str,
}

pub struct Config<'a> {
    /// Empty: all that this user may use, as one.
    pub server: &'a str,
    pub rules: &'a [Rule<'a>],
    pub otherwise: Verdict,
    /// MCP client capabilities, a JSON object.
    pub capabilities: &'a str,
}

type Outcome<T> = Result<T, Error>;

// ---- completions ----

unsafe fn error_of(code: c_int, error: *mut abi::Error) -> Error {
    let taken = Error {
        code: text_of(abi::cellblock_code_name(code)),
        text: text_of(abi::cellblock_error_text(error)),
        advice: text_of(abi::cellblock_error_advice(error)),
        failure: text_of(abi::cellblock_error_failure(error)),
    };
    abi::cellblock_error_free(error);
    taken
}

/// Each completion is called once: it takes back what `begin` gave away. Whoever waited may have gone.
unsafe fn complete<T>(user: *mut c_void, outcome: Outcome<T>) {
    let sender = Box::from_raw(user as *mut oneshot::Sender<Outcome<T>>);
    let _ = sender.send(outcome);
}

unsafe extern "C" fn done(user: *mut c_void, code: c_int, error: *mut abi::Error) {
    complete(user, if code == abi::OK { Ok(()) } else { Err(error_of(code, error)) });
}

unsafe extern "C" fn answered(
    user: *mut c_void, code: c_int, result: *mut abi::ResultHandle, error: *mut abi::Error,
) {
    if code != abi::OK {
        return complete::<Answer>(user, Err(error_of(code, error)));
    }
    let answer = Answer {
        json: text_of(abi::cellblock_result_json(result, ptr::null_mut())),
        text: text_of(abi::cellblock_result_text(result, ptr::null_mut())),
        is_error: abi::cellblock_result_is_error(result) != 0,
    };
    abi::cellblock_result_free(result);
    complete(user, Ok(answer));
}

unsafe extern "C" fn listed(user: *mut c_void, code: c_int, tools: *mut abi::Tools, error: *mut abi::Error) {
    if code != abi::OK {
        return complete::<Vec<String>>(user, Err(error_of(code, error)));
    }
    let count = abi::cellblock_tools_count(tools);
    let names: Vec<String> = (0..count).map(|index| text_of(abi::cellblock_tools_name(tools, index))).collect();
    abi::cellblock_tools_free(tools);
    complete(user, Ok(names));
}

// ---- the client ----

/// The library's client, which one thread uses. Freed when neither the task nor a call has it.
struct Inner {
    handle: *mut abi::Client,
    /// A function has been called: what cellblock_timeout() says may be sooner.
    changed: Notify,
    /// Callbacks point to it.
    _events: Box<Events>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        unsafe { abi::cellblock_client_free(self.handle) };
    }
}

pub struct Client {
    inner: Rc<Inner>,
    task: JoinHandle<()>,
}

impl Drop for Client {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Begins an operation, whose completion sends its outcome. Refused: the completion is never called.
fn begin<T>(
    start: impl FnOnce(*mut c_void, *mut *mut abi::Error) -> c_int,
) -> Outcome<oneshot::Receiver<Outcome<T>>> {
    let (sender, receiver) = oneshot::channel::<Outcome<T>>();
    let user = Box::into_raw(Box::new(sender));
    let mut error = ptr::null_mut();
    let code = start(user as *mut c_void, &mut error);
    if code == abi::OK {
        return Ok(receiver);
    }
    unsafe {
        drop(Box::from_raw(user));
        Err(error_of(code, error))
    }
}

// The library calls each completion before it frees its client, which whoever waits keeps.
async fn outcome_of<T>(receiver: oneshot::Receiver<Outcome<T>>) -> Outcome<T> {
    receiver.await.expect("each completion is called once")
}

/// Tokio tells edges: what comes while process() runs is an edge again, and where process() leaves something to do
/// the timeout is 0.
async fn serve(inner: Rc<Inner>) -> io::Result<()> {
    let descriptor = unsafe { abi::cellblock_fd(inner.handle) };
    let ready = AsyncFd::with_interest(descriptor, Interest::READABLE)?;
    loop {
        let wait = match unsafe { abi::cellblock_timeout(inner.handle) } {
            milliseconds if milliseconds < 0 => Duration::from_secs(3600),
            milliseconds => Duration::from_millis(milliseconds as u64),
        };
        tokio::select! {
            guard = ready.readable() => guard?.clear_ready(),
            _ = inner.changed.notified() => {}
            _ = tokio::time::sleep(wait) => {}
        }
        unsafe { abi::cellblock_process(inner.handle, ptr::null_mut()) };
    }
}

/// Freed with the scope.
struct Options(*mut abi::Options);

impl Drop for Options {
    fn drop(&mut self) {
        unsafe { abi::cellblock_options_free(self.0) };
    }
}

fn number_of(verdict: Verdict) -> c_int {
    match verdict {
        Verdict::Allow => abi::ALLOW,
        Verdict::Ask => abi::ASK,
        Verdict::Deny => abi::DENY,
    }
}

// What a setter refuses is an error of connecting as well.
fn options_for(config: &Config<'_>, events: &Events) -> Options {
    let user = events as *const Events as *mut c_void;
    let (name, version) = (text_for_c("rust_host"), text_for_c(env!("CARGO_PKG_VERSION")));
    unsafe {
        let options = Options(abi::cellblock_options_new());
        abi::cellblock_options_identity(options.0, name.as_ptr(), version.as_ptr());
        abi::cellblock_options_capabilities(options.0, text_for_c(config.capabilities).as_ptr());
        abi::cellblock_options_otherwise(options.0, number_of(config.otherwise));
        for rule in config.rules {
            let (tool, reason) = (text_for_c(rule.tool), text_for_c(rule.reason));
            abi::cellblock_options_rule(
                options.0, ptr::null(), abi::TOOL, tool.as_ptr(), number_of(rule.verdict), reason.as_ptr(),
            );
        }
        abi::cellblock_options_on_approval(options.0, question::on_approval, user);
        abi::cellblock_options_on_request(options.0, question::on_request, user);
        abi::cellblock_options_on_ended(options.0, question::on_ended, user);
        options
    }
}

impl Client {
    /// Connected, attached and initialized. Call it in a `LocalSet`.
    pub async fn connect(config: &Config<'_>, events: Events) -> Outcome<Client> {
        let events = Box::new(events);
        let options = options_for(config, &events);
        let mut handle = ptr::null_mut();
        let connected = begin::<()>(|user, error| unsafe {
            abi::cellblock_connect_async(options.0, done, user, &mut handle, error)
        })?;
        drop(options);
        let inner = Rc::new(Inner { handle, changed: Notify::new(), _events: events });
        let served = inner.clone();
        let task = tokio::task::spawn_local(async move {
            if let Err(error) = serve(served).await {
                eprintln!("rust_host: the descriptor cannot be waited for: {error}");
            }
        });
        let client = Client { inner, task };
        outcome_of(connected).await?;
        client.attach(config.server).await?;
        client.initialize().await?;
        Ok(client)
    }

    fn begun<T>(
        &self, start: impl FnOnce(*mut abi::Client, *mut c_void, *mut *mut abi::Error) -> c_int,
    ) -> Outcome<oneshot::Receiver<Outcome<T>>> {
        let begun = begin(|user, error| start(self.inner.handle, user, error));
        self.inner.changed.notify_one();
        begun
    }

    async fn attach(&self, server: &str) -> Outcome<()> {
        let server = (!server.is_empty()).then(|| text_for_c(server));
        let name = server.as_ref().map_or(ptr::null(), |text| text.as_ptr());
        let begun = self.begun(|client, user, error| unsafe {
            abi::cellblock_attach_async(client, name, ptr::null(), done, user, error)
        })?;
        outcome_of(begun).await
    }

    async fn initialize(&self) -> Outcome<()> {
        let begun = self.begun::<Answer>(|client, user, error| unsafe {
            abi::cellblock_initialize_async(client, HANDSHAKE_MS, answered, user, error)
        })?;
        outcome_of(begun).await.map(|_| ())
    }

    pub async fn list_tools(&self) -> Outcome<Vec<String>> {
        let begun = self.begun(|client, user, error| unsafe {
            abi::cellblock_list_tools_async(client, HANDSHAKE_MS, listed, user, error)
        })?;
        outcome_of(begun).await
    }

    /// `arguments`: a JSON object. A future that is dropped cancels its call, and the server is told.
    pub async fn call_tool(&self, tool: &str, arguments: &str, timeout: Duration) -> Outcome<Answer> {
        let (tool, arguments) = (text_for_c(tool), text_for_c(arguments));
        let options = abi::CallOptions {
            size: std::mem::size_of::<abi::CallOptions>(),
            timeout_ms: timeout.as_millis() as u64,
            at_most_ms: 0,
            on_progress: ptr::null(),
            user: ptr::null_mut(),
        };
        let mut number = 0;
        let begun = self.begun(|client, user, error| unsafe {
            let (tool, arguments) = (tool.as_ptr(), arguments.as_ptr());
            abi::cellblock_call_tool_async(client, tool, arguments, &options, answered, user, &mut number, error)
        })?;
        let cancel = CancelOnDrop { inner: self.inner.clone(), call: Cell::new(number) };
        let outcome = outcome_of(begun).await;
        cancel.call.set(0);
        outcome
    }

    /// After `disconnected`: as before, with growing waits, at most so many times. No call is repeated.
    pub async fn reconnect(&self, attempts: u32) -> Outcome<()> {
        let begun = self.begun(|client, user, error| unsafe {
            abi::cellblock_reconnect_async(client, attempts, done, user, error)
        })?;
        outcome_of(begun).await
    }
}

struct CancelOnDrop {
    inner: Rc<Inner>,
    call: Cell<u64>, // 0: it has ended
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if self.call.get() != 0 {
            unsafe { abi::cellblock_cancel_call(self.inner.handle, self.call.get()) };
        }
    }
}
