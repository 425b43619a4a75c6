#include "cellblock/connection.h"

#include <poll.h>

#include <algorithm>
#include <utility>

#include "client/connection/options_check.h"
#include "client/connection/rpc_text.h"
#include "client/connection/tool_text.h"
#include "client/connection/workspace_directory.h"
#include "client/lib/connection_core.h"
#include "client/lib/kept_for_good.h"
#include "client/lib/reconnecting.h"
#include "client/lib/usable.h"
#include "policy/base/result.h"
#include "policy/mcp/control_methods.h"
#include "policy/mcp/methods.h"

namespace cellblock::client {

using std::chrono::milliseconds;

namespace {

Error closed_by_caller() {
  return {.code = ErrorCode::cancelled, .text = "the session was closed"};
}

void release(std::shared_ptr<Connection::Impl> impl) {
  if (!impl) return;
  if (impl->is_of_other_process()) {
    impl->channel->abandon();
    impl->reactor->abandon();
    return keep_for_good(std::move(impl));
  }
  impl->is_released = true;
  impl->close(closed_by_caller());
  impl->run_what_is_left();
}

}  // namespace

void Connection::Impl::attach(std::string_view server, const AttachOptions& with,
                              const CallOptions& how, Completion<Attached> done) {
  auto workspace = workspace_of(with);
  if (!workspace) return post<Attached>(std::move(done), std::unexpected(workspace.error()));
  const auto params = attach_params(server,
                                    {.workspace = workspace->valid(),
                                     .probe = with.program == CellProgram::probe,
                                     .on_demand = with.start == StartWhen::on_demand,
                                     .tools = with.tools},
                                    with.labels, with.role);
  Attachment made{.server = std::string(server), .with = with, .directory = {}};
  // A path is opened again, a descriptor may be closed by then.
  if (with.workspace.empty() && workspace->valid()) made.directory = copy_of(*workspace);
  // Until the daemon agrees, calls are judged as those to the server of before.
  std::shared_ptr<Attachment> later;
  if (is_attached) {
    later = std::make_shared<Attachment>(std::move(made));
  } else {
    attachment = std::move(made);
  }
  auto finish = [weak = weak_from_this(), later = std::move(later),
                 done = std::move(done)](Result<std::string> answer) mutable {
    if (const auto self = weak.lock(); self && answer) {
      self->is_attached = true;
      if (later) self->attachment = std::move(*later);
    }
    done(answer ? read_attached(*answer) : std::unexpected(answer.error()));
  };
  request(control_method::attach, params, {.timeout = how.timeout, .stop = how.stop},
          std::move(finish), std::move(*workspace));
}

void Connection::Impl::initialize(const CallOptions& how, Completion<std::string> done) {
  auto params = initialize_params(options);
  if (!params) return post<std::string>(std::move(done), std::unexpected(params.error()));
  auto finish = [weak = weak_from_this(),
                 done = std::move(done)](Result<std::string> answer) mutable {
    const auto self = weak.lock();
    // The server serves nothing before this.
    if (answer && self) {
      self->is_initialized = true;
      static_cast<void>(self->send(request_line({}, mcp::notification::initialized, {})));
    }
    done(std::move(answer));
  };
  request(mcp::method::initialize, *params, {.timeout = how.timeout, .stop = how.stop},
          std::move(finish));
}

void Connection::Impl::reconnect(const ReconnectOptions& with, Completion<Attached> done) {
  if (auto checked = check_reconnect(with); !checked) {
    return post<Attached>(std::move(done), std::unexpected(checked.error()));
  }
  if (reconnecting) {
    return post<Attached>(std::move(done),
                          std::unexpected(Error{.code = ErrorCode::invalid_argument,
                                                .text = "the session is reconnecting already"}));
  }
  drop_connection(
      {.code = ErrorCode::disconnected, .text = "the connection was given up for a new one"});
  reconnecting = std::make_shared<Reconnecting>(shared_from_this(), with, std::move(done));
  reconnecting->start();
}

Connection::Connection(Options options) : impl_(std::make_shared<Impl>(std::move(options))) {}
Connection::~Connection() { release(std::move(impl_)); }
Connection::Connection(Connection&&) noexcept = default;
Connection& Connection::operator=(Connection&& other) noexcept {
  if (this != &other) release(std::exchange(impl_, std::move(other.impl_)));
  return *this;
}

int Connection::descriptor() const { return why_unusable(impl_) ? -1 : impl_->reactor->fd(); }

short Connection::events() const { return POLLIN; }

Connection::TimePoint Connection::deadline() const {
  return why_unusable(impl_) ? TimePoint::max()
                             : impl_->reactor->deadline().value_or(TimePoint::max());
}

milliseconds Connection::timeout() const {
  if (why_unusable(impl_)) return no_deadline;
  if (impl_->reactor->has_tasks()) return milliseconds(0);
  const auto end = deadline();
  if (end == TimePoint::max()) return no_deadline;
  const auto left = std::chrono::ceil<milliseconds>(end - std::chrono::steady_clock::now());
  return std::max(left, milliseconds(0));
}

bool Connection::is_active() const {
  if (why_unusable(impl_)) return false;
  const auto& reactor = *impl_->reactor;
  return reactor.is_watching() || reactor.deadline() || reactor.has_tasks();
}

Result<void> Connection::process() {
  const auto impl = impl_;
  if (auto why = why_unusable(impl)) return std::unexpected(*std::move(why));
  impl->reactor->process();
  return {};
}

void Connection::post(std::function<void()> task) const {
  if (!why_unusable(impl_)) impl_->reactor->post(std::move(task));
}

void Connection::connect(Completion<void> done) {
  if (const auto impl = usable(impl_, done)) impl->connect(std::move(done));
}

void Connection::attach(std::string_view server, const AttachOptions& with, milliseconds deadline,
                        Completion<Attached> done) {
  attach(server, with, CallOptions{.timeout = deadline}, std::move(done));
}

void Connection::attach(std::string_view server, const AttachOptions& with,
                        const CallOptions& options, Completion<Attached> done) {
  if (const auto impl = usable(impl_, done)) impl->attach(server, with, options, std::move(done));
}

void Connection::initialize(milliseconds deadline, Completion<std::string> done) {
  initialize(CallOptions{.timeout = deadline}, std::move(done));
}

void Connection::initialize(const CallOptions& options, Completion<std::string> done) {
  if (const auto impl = usable(impl_, done)) impl->initialize(options, std::move(done));
}

void Connection::reconnect(const ReconnectOptions& with, Completion<Attached> done) {
  if (const auto impl = usable(impl_, done)) impl->reconnect(with, std::move(done));
}

CallId Connection::call_tool(std::string_view tool, std::string_view arguments,
                             const CallOptions& options, Completion<ToolResult> done) {
  const auto impl = usable(impl_, done);
  if (!impl) return CallId::none;
  auto params = tool_call_params(tool, arguments);
  if (!params) {
    impl->post<ToolResult>(std::move(done), std::unexpected(params.error()));
    return CallId::none;
  }
  return impl->request(
      mcp::method::tools_call, *params, options,
      [done = std::move(done)](Result<std::string> answer) mutable {
        done(answer ? read_tool_result(*std::move(answer)) : std::unexpected(answer.error()));
      });
}

CallId Connection::request(std::string_view method, std::string_view params,
                           const CallOptions& options, Completion<std::string> done) {
  const auto impl = usable(impl_, done);
  return impl ? impl->request(method, params, options, std::move(done)) : CallId::none;
}

Result<void> Connection::notify(std::string_view method, std::string_view params) {
  const auto impl = impl_;
  if (auto why = why_unusable(impl)) return std::unexpected(*std::move(why));
  return impl->send(CELLBLOCK_TRY(impl->conversation.notify(method, params)));
}

void Connection::cancel(CallId call) {
  const auto impl = impl_;
  if (why_unusable(impl)) return;
  impl->give_up(static_cast<std::uint64_t>(call),
                {.code = ErrorCode::cancelled, .text = "cancelled by the caller"});
}

void Connection::cancel_all() {
  const auto impl = impl_;
  if (why_unusable(impl)) return;
  const Error why{.code = ErrorCode::cancelled, .text = "cancelled by the caller"};
  if (const auto going = std::exchange(impl->reconnecting, nullptr)) going->stop(why);
  impl->give_up_all(why);
}

void Connection::close() {
  const auto impl = impl_;
  if (!why_unusable(impl)) impl->close(closed_by_caller());
}

void Connection::discard() {
  if (!why_unusable(impl_)) impl_->reactor->discard();
}

bool Connection::is_of_other_process() const { return impl_ && impl_->is_of_other_process(); }

}  // namespace cellblock::client
