#include "cellblock/session.h"

#include <utility>

#include "client/connection/rpc_text.h"
#include "client/connection/tool_text.h"
#include "client/connection/workspace_directory.h"
#include "client/lib/reconnecting.h"
#include "client/lib/session_core.h"
#include "client/lib/tool_listing.h"
#include "policy/base/result.h"
#include "policy/mcp/control_methods.h"
#include "policy/mcp/methods.h"

namespace cellblock::client {

using std::chrono::milliseconds;

namespace {

Error closed_by_caller() {
  return {.code = ErrorCode::cancelled, .text = "the session was closed"};
}

}  // namespace

void Session::Impl::attach(std::string_view server, const AttachOptions& with, milliseconds timeout,
                           Completion<Attached> done) {
  auto workspace = workspace_of(with);
  if (!workspace) return post<Attached>(std::move(done), std::unexpected(workspace.error()));
  auto finish = [done = std::move(done)](Result<std::string> answer) mutable {
    done(answer ? read_attached(*answer) : std::unexpected(answer.error()));
  };
  const auto params = attach_params(server,
                                    {.workspace = workspace->valid(),
                                     .probe = with.program == CellProgram::probe,
                                     .on_demand = with.start == StartWhen::on_demand,
                                     .tools = with.tools},
                                    with.labels, with.role);
  Attachment made{.server = std::string(server), .with = with, .directory = {}};
  // A path is opened again, a descriptor may be closed by then.
  if (with.workspace.empty() && workspace->valid()) made.directory = copy_of(*workspace);
  attachment = std::move(made);
  request(control_method::attach, params, {.timeout = timeout}, std::move(finish),
          std::move(*workspace));
}

void Session::Impl::initialize(milliseconds timeout, Completion<std::string> done) {
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
  request(mcp::method::initialize, *params, {.timeout = timeout}, std::move(finish));
}

void Session::Impl::reconnect(const ReconnectOptions& with, Completion<Attached> done) {
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

Session::Session(boost::asio::any_io_executor executor, Options options)
    : impl_(std::make_shared<Impl>(std::move(executor), std::move(options))) {}
Session::~Session() {
  if (impl_) close();
}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&& other) noexcept {
  std::swap(impl_, other.impl_);
  return *this;
}

void Session::connect(Completion<void> done) { impl_->connect(std::move(done)); }

void Session::attach(std::string_view server, milliseconds deadline, Completion<Attached> done) {
  attach(server, AttachOptions{}, deadline, std::move(done));
}

void Session::attach(std::string_view server, const AttachOptions& with, milliseconds deadline,
                     Completion<Attached> done) {
  impl_->attach(server, with, deadline, std::move(done));
}

void Session::initialize(milliseconds deadline, Completion<std::string> done) {
  impl_->initialize(deadline, std::move(done));
}

void Session::reconnect(const ReconnectOptions& with, Completion<Attached> done) {
  impl_->reconnect(with, std::move(done));
}

void Session::list_tools(milliseconds deadline, Completion<std::vector<Tool>> done) {
  list_all_tools(impl_, deadline, std::move(done));
}

CallId Session::call_tool(std::string_view tool, std::string_view arguments, milliseconds deadline,
                          Completion<ToolResult> done) {
  return call_tool(tool, arguments, CallOptions{.timeout = deadline}, std::move(done));
}

CallId Session::call_tool(std::string_view tool, std::string_view arguments,
                          const CallOptions& options, Completion<ToolResult> done) {
  auto params = tool_call_params(tool, arguments);
  if (!params) {
    impl_->post<ToolResult>(std::move(done), std::unexpected(params.error()));
    return CallId::none;
  }
  return impl_->request(
      mcp::method::tools_call, *params, options,
      [done = std::move(done)](Result<std::string> answer) mutable {
        done(answer ? read_tool_result(*std::move(answer)) : std::unexpected(answer.error()));
      });
}

CallId Session::request(std::string_view method, std::string_view params, milliseconds deadline,
                        Completion<std::string> done) {
  return request(method, params, CallOptions{.timeout = deadline}, std::move(done));
}

CallId Session::request(std::string_view method, std::string_view params,
                        const CallOptions& options, Completion<std::string> done) {
  return impl_->request(method, params, options, std::move(done));
}

Result<void> Session::notify(std::string_view method, std::string_view params) {
  return impl_->send(CELLBLOCK_TRY(impl_->conversation.notify(method, params)));
}

void Session::cancel(CallId call) {
  impl_->give_up(static_cast<std::uint64_t>(call),
                 {.code = ErrorCode::cancelled, .text = "cancelled by the caller"});
}

void Session::cancel_all() {
  const Error why{.code = ErrorCode::cancelled, .text = "cancelled by the caller"};
  if (const auto going = std::exchange(impl_->reconnecting, nullptr)) going->stop(why);
  impl_->give_up_all(why);
}

void Session::close() { impl_->close(closed_by_caller()); }

}  // namespace cellblock::client
