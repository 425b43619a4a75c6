#include "cellblock/session.h"

#include <utility>

#include "client/connection/options_check.h"
#include "client/connection/rpc_text.h"
#include "client/connection/tool_text.h"
#include "client/connection/workspace_directory.h"
#include "client/lib/kept_for_good.h"
#include "client/lib/reconnecting.h"
#include "client/lib/session_core.h"
#include "client/lib/tool_listing.h"
#include "client/lib/unusable.h"
#include "policy/base/result.h"
#include "policy/mcp/control_methods.h"
#include "policy/mcp/methods.h"

namespace cellblock::client {

using std::chrono::milliseconds;

namespace {

Error closed_by_caller() {
  return {.code = ErrorCode::cancelled, .text = "the session was closed"};
}

using Shared = std::shared_ptr<Session::Impl>;

std::optional<Error> why_unusable(const Shared& impl) {
  if (!impl) return moved_from();
  if (impl->is_of_other_process()) return of_other_process();
  return std::nullopt;
}

// Shared, since a handler may destroy the session that it is called from. Where nothing can be done
// with it, `done` hears why.
template <class T>
Shared usable(const boost::asio::any_io_executor& executor, const Shared& impl,
              Completion<T>& done) {
  auto why = why_unusable(impl);
  if (!why) return impl;
  boost::asio::post(executor, [done = std::move(done), why = *std::move(why)]() mutable {
    done(std::unexpected(std::move(why)));
  });
  return nullptr;
}

void release(Shared impl) {
  if (!impl) return;
  if (!impl->is_of_other_process()) return impl->close(closed_by_caller());
  impl->channel->abandon();
  keep_for_good(std::move(impl));
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

Session::Session(boost::asio::any_io_executor executor, Options options)
    : executor_(executor), impl_(std::make_shared<Impl>(std::move(executor), std::move(options))) {}
Session::~Session() { release(std::move(impl_)); }
Session::Session(Session&& other) noexcept
    : executor_(other.executor_), impl_(std::move(other.impl_)) {}
Session& Session::operator=(Session&& other) noexcept {
  if (this == &other) return *this;
  release(std::exchange(impl_, std::move(other.impl_)));
  executor_ = other.executor_;
  return *this;
}

void Session::connect(Completion<void> done) {
  if (const auto impl = usable(executor_, impl_, done)) impl->connect(std::move(done));
}

void Session::attach(std::string_view server, milliseconds deadline, Completion<Attached> done) {
  attach(server, AttachOptions{}, deadline, std::move(done));
}

void Session::attach(std::string_view server, const AttachOptions& with, milliseconds deadline,
                     Completion<Attached> done) {
  if (const auto impl = usable(executor_, impl_, done)) {
    impl->attach(server, with, deadline, std::move(done));
  }
}

void Session::initialize(milliseconds deadline, Completion<std::string> done) {
  if (const auto impl = usable(executor_, impl_, done)) impl->initialize(deadline, std::move(done));
}

void Session::reconnect(const ReconnectOptions& with, Completion<Attached> done) {
  if (const auto impl = usable(executor_, impl_, done)) impl->reconnect(with, std::move(done));
}

void Session::list_tools(milliseconds deadline, Completion<std::vector<Tool>> done) {
  if (const auto impl = usable(executor_, impl_, done)) {
    list_all_tools(impl, deadline, std::move(done));
  }
}

CallId Session::call_tool(std::string_view tool, std::string_view arguments, milliseconds deadline,
                          Completion<ToolResult> done) {
  return call_tool(tool, arguments, CallOptions{.timeout = deadline}, std::move(done));
}

CallId Session::call_tool(std::string_view tool, std::string_view arguments,
                          const CallOptions& options, Completion<ToolResult> done) {
  const auto impl = usable(executor_, impl_, done);
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

CallId Session::request(std::string_view method, std::string_view params, milliseconds deadline,
                        Completion<std::string> done) {
  return request(method, params, CallOptions{.timeout = deadline}, std::move(done));
}

CallId Session::request(std::string_view method, std::string_view params,
                        const CallOptions& options, Completion<std::string> done) {
  const auto impl = usable(executor_, impl_, done);
  return impl ? impl->request(method, params, options, std::move(done)) : CallId::none;
}

Result<void> Session::notify(std::string_view method, std::string_view params) {
  const auto impl = impl_;
  if (auto why = why_unusable(impl)) return std::unexpected(*std::move(why));
  return impl->send(CELLBLOCK_TRY(impl->conversation.notify(method, params)));
}

void Session::cancel(CallId call) {
  const auto impl = impl_;
  if (why_unusable(impl)) return;
  impl->give_up(static_cast<std::uint64_t>(call),
                {.code = ErrorCode::cancelled, .text = "cancelled by the caller"});
}

void Session::cancel_all() {
  const auto impl = impl_;
  if (why_unusable(impl)) return;
  const Error why{.code = ErrorCode::cancelled, .text = "cancelled by the caller"};
  if (const auto going = std::exchange(impl->reconnecting, nullptr)) going->stop(why);
  impl->give_up_all(why);
}

void Session::close() {
  const auto impl = impl_;
  if (!why_unusable(impl)) impl->close(closed_by_caller());
}

}  // namespace cellblock::client
