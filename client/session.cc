#include "cellblock/session.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>
#include <optional>
#include <utility>

#include "client/channel.h"
#include "client/conversation.h"
#include "client/rpc_text.h"
#include "client/tool_text.h"
#include "client/workspace_directory.h"
#include "policy/control_methods.h"
#include "policy/mcp/error_codes.h"
#include "policy/mcp/methods.h"
#include "policy/result.h"

namespace cellblock::client {

namespace asio = boost::asio;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

namespace {

struct OpenCall {
  Completion<std::string> done;
  asio::steady_timer deadline;
};

// The furthest point that the clock can name, for deadlines that would overflow it.
Clock::time_point after(milliseconds timeout) {
  const auto now = Clock::now();
  const auto furthest = std::chrono::duration_cast<milliseconds>(Clock::time_point::max() - now);
  return timeout >= furthest ? Clock::time_point::max() : now + timeout;
}

milliseconds until(Clock::time_point end) {
  if (end == Clock::time_point::max()) return no_deadline;
  return std::max(std::chrono::ceil<milliseconds>(end - Clock::now()), milliseconds(0));
}

Error closed_by_caller() {
  return {.code = ErrorCode::cancelled, .text = "the session was closed"};
}

struct Listing {
  std::vector<Tool> tools;
  std::size_t pages = 0;
  Clock::time_point end;
  Completion<std::vector<Tool>> done;
};

Result<void> add_page(Listing& listing, ToolPage page, const Limits& limits) {
  const bool more = !page.next_cursor.empty();
  listing.pages += 1;
  if (listing.tools.size() + page.tools.size() > limits.list_items ||
      (more && listing.pages >= limits.list_pages)) {
    return std::unexpected(
        Error{.code = ErrorCode::too_large, .text = "the server's list of tools is too long"});
  }
  std::ranges::move(page.tools, std::back_inserter(listing.tools));
  return {};
}

}  // namespace

struct Session::Impl : std::enable_shared_from_this<Session::Impl> {
  Impl(asio::any_io_executor where, Options chosen)
      : executor(std::move(where)),
        options(std::move(chosen)),
        conversation(options.limits),
        channel(std::make_shared<Channel>(executor, options.limits)) {}

  void connect(Completion<void> done);
  CallId request(std::string_view method, std::string_view params, milliseconds timeout,
                 Completion<std::string> done, OwnedFd attached = OwnedFd());
  void set_deadline(std::uint64_t id, milliseconds timeout);
  void list_page(std::unique_ptr<Listing> listing, std::string_view cursor);
  void give_up(std::uint64_t id, Error why);
  void close(const Error& why);

  Result<void> send(std::string line, OwnedFd attached = OwnedFd());

  void handle(std::string_view line);
  void handle(Ignored) {}
  void handle(Answered answer);
  void handle(const Notified& notification);
  void handle(const Asked& request);
  void handle(const FailedUnnamed& failure);

  Result<std::string> answer_to(const Asked& request);
  void ended(const Error& why);
  void fail_all(const Error& why);
  void complete(std::uint64_t id, Result<std::string> result);

  template <class T>
  void post(Completion<T> done, Result<T> result) {
    asio::post(executor, [done = std::move(done), result = std::move(result)]() mutable {
      done(std::move(result));
    });
  }

  asio::any_io_executor executor;
  Options options;
  Conversation conversation;
  std::shared_ptr<Channel> channel;
  std::map<std::uint64_t, OpenCall> calls;
  /// The daemon turns a connection away with an error before it has read anything of ours: whoever
  /// asks afterwards is told that reason.
  std::optional<Error> farewell;
};

void Session::Impl::connect(Completion<void> done) {
  auto handlers = Channel::Handlers{.line =
                                        [weak = weak_from_this()](std::string_view line) {
                                          if (const auto self = weak.lock()) self->handle(line);
                                        },
                                    .ended =
                                        [weak = weak_from_this()](const Error& why) {
                                          if (const auto self = weak.lock()) self->ended(why);
                                        }};
  const auto path = options.socket.empty() ? default_socket_path() : options.socket;
  channel->connect(path, std::move(handlers), std::move(done));
}

Result<void> Session::Impl::send(std::string line, OwnedFd attached) {
  const auto seen = options.on_frame ? line.substr(0, line.size() - 1) : std::string();
  CELLBLOCK_CHECK(channel->send(std::move(line), std::move(attached)));
  if (options.on_frame) options.on_frame(FrameDirection::to_daemon, seen);
  return {};
}

CallId Session::Impl::request(std::string_view method, std::string_view params,
                              milliseconds timeout, Completion<std::string> done,
                              OwnedFd attached) {
  auto opened = conversation.open(method, params);
  if (!opened) {
    post<std::string>(std::move(done), std::unexpected(opened.error()));
    return CallId::none;
  }
  const auto id = opened->id;
  if (auto sent = send(std::move(opened->line), std::move(attached)); !sent) {
    (void)conversation.give_up(id, {});  // never sent: there is nobody to tell
    post<std::string>(std::move(done), std::unexpected(farewell.value_or(sent.error())));
    return CallId::none;
  }
  calls.emplace(id, OpenCall{std::move(done), asio::steady_timer(executor)});
  set_deadline(id, timeout);
  return CallId{id};
}

void Session::Impl::set_deadline(std::uint64_t id, milliseconds timeout) {
  auto& timer = calls.at(id).deadline;
  timer.expires_at(after(timeout));
  timer.async_wait([weak = weak_from_this(), id](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (error || !self) return;
    self->give_up(id, {.code = ErrorCode::timed_out, .text = "no answer before the deadline"});
  });
}

void Session::Impl::give_up(std::uint64_t id, Error why) {
  const auto reason =
      why.code == ErrorCode::timed_out ? "deadline passed" : "cancelled by the host";
  // A queue too full for this line belongs to a connection that is stuck anyway.
  if (auto line = conversation.give_up(id, reason)) static_cast<void>(send(*std::move(line)));
  complete(id, std::unexpected(std::move(why)));
}

void Session::Impl::complete(std::uint64_t id, Result<std::string> result) {
  auto call = calls.extract(id);
  if (call.empty()) return;
  call.mapped().deadline.cancel();
  post(std::move(call.mapped().done), std::move(result));
}

void Session::Impl::ended(const Error& why) {
  const Error told = farewell.value_or(why);
  if (options.on_ended) options.on_ended(told);
  fail_all(told);
}

void Session::Impl::fail_all(const Error& why) {
  for (const auto id : conversation.give_up_all()) complete(id, std::unexpected(why));
}

void Session::Impl::close(const Error& why) {
  channel->close();
  fail_all(why);
}

void Session::Impl::handle(std::string_view line) {
  if (options.on_frame) options.on_frame(FrameDirection::from_daemon, line);
  auto event = conversation.receive(line);
  if (!event) return close(event.error());
  std::visit([this](auto&& what) { handle(std::forward<decltype(what)>(what)); },
             *std::move(event));
}

void Session::Impl::handle(Answered answer) { complete(answer.id, std::move(answer.result)); }

void Session::Impl::handle(const Notified& notification) {
  if (options.on_notification) options.on_notification(notification.method, notification.params);
}

void Session::Impl::handle(const FailedUnnamed& failure) {
  if (calls.empty()) farewell = failure.error;
  fail_all(failure.error);
}

void Session::Impl::handle(const Asked& request) {
  auto line = conversation.answer(request, answer_to(request));
  if (!line) line = error_line(request.id, mcp::internal_error, line.error().text);
  // Full or closed: the asker gives up by itself.
  static_cast<void>(send(*std::move(line)));
}

Result<std::string> Session::Impl::answer_to(const Asked& request) {
  if (request.method == mcp::method::ping) return "{}";
  if (options.on_request) return options.on_request(request.method, request.params);
  return std::unexpected(
      Error{.code = ErrorCode::rpc, .text = "Method not found", .rpc_code = mcp::method_not_found});
}

void Session::Impl::list_page(std::unique_ptr<Listing> listing, std::string_view cursor) {
  const auto timeout = until(listing->end);
  // Weak: a session that is gone asks for no further page.
  auto next = [weak = weak_from_this(),
               listing = std::move(listing)](Result<std::string> answer) mutable {
    const auto self = weak.lock();
    auto page = answer ? read_tool_page(*answer) : std::unexpected(answer.error());
    if (!page) return listing->done(std::unexpected(page.error()));
    const auto cursor_of_next = page->next_cursor;
    const auto limits = self ? self->options.limits : Limits{};
    if (auto added = add_page(*listing, *std::move(page), limits); !added) {
      return listing->done(std::unexpected(added.error()));
    }
    if (cursor_of_next.empty()) return listing->done(std::move(listing->tools));
    if (!self) return listing->done(std::unexpected(closed_by_caller()));
    self->list_page(std::move(listing), cursor_of_next);
  };
  request(mcp::method::tools_list, tool_page_params(cursor), timeout, std::move(next));
}

Session::Session(asio::any_io_executor executor, Options options)
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
  auto workspace = workspace_of(with);
  if (!workspace) {
    return impl_->post<Attached>(std::move(done), std::unexpected(workspace.error()));
  }
  auto finish = [done = std::move(done)](Result<std::string> answer) mutable {
    done(answer ? read_attached(*answer) : std::unexpected(answer.error()));
  };
  const auto params = attach_params(server,
                                    {.workspace = workspace->valid(),
                                     .probe = with.program == CellProgram::probe,
                                     .on_demand = with.start == StartWhen::on_demand},
                                    with.labels, with.role);
  impl_->request(control_method::attach, params, deadline, std::move(finish),
                 std::move(*workspace));
}

void Session::initialize(milliseconds deadline, Completion<std::string> done) {
  auto params = initialize_params(impl_->options);
  if (!params) return impl_->post<std::string>(std::move(done), std::unexpected(params.error()));
  auto finish = [weak = std::weak_ptr(impl_),
                 done = std::move(done)](Result<std::string> answer) mutable {
    const auto self = weak.lock();
    // The server serves nothing before this.
    if (answer && self) {
      static_cast<void>(self->send(request_line({}, mcp::notification::initialized, {})));
    }
    done(std::move(answer));
  };
  impl_->request(mcp::method::initialize, *params, deadline, std::move(finish));
}

void Session::list_tools(milliseconds deadline, Completion<std::vector<Tool>> done) {
  auto listing = std::make_unique<Listing>();
  listing->end = after(deadline);
  listing->done = std::move(done);
  impl_->list_page(std::move(listing), {});
}

CallId Session::call_tool(std::string_view tool, std::string_view arguments, milliseconds deadline,
                          Completion<ToolResult> done) {
  auto params = tool_call_params(tool, arguments);
  if (!params) {
    impl_->post<ToolResult>(std::move(done), std::unexpected(params.error()));
    return CallId::none;
  }
  return impl_->request(
      mcp::method::tools_call, *params, deadline,
      [done = std::move(done)](Result<std::string> answer) mutable {
        done(answer ? read_tool_result(*std::move(answer)) : std::unexpected(answer.error()));
      });
}

CallId Session::request(std::string_view method, std::string_view params, milliseconds deadline,
                        Completion<std::string> done) {
  return impl_->request(method, params, deadline, std::move(done));
}

Result<void> Session::notify(std::string_view method, std::string_view params) {
  return impl_->send(CELLBLOCK_TRY(impl_->conversation.notify(method, params)));
}

void Session::cancel(CallId call) {
  impl_->give_up(static_cast<std::uint64_t>(call),
                 {.code = ErrorCode::cancelled, .text = "cancelled by the caller"});
}

void Session::cancel_all() {
  std::vector<std::uint64_t> open;
  for (const auto& [id, call] : impl_->calls) open.push_back(id);
  for (const auto id : open) cancel(CallId{id});
}

void Session::close() { impl_->close(closed_by_caller()); }

}  // namespace cellblock::client
