#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cellblock/completion_token.h"
#include "cellblock/connection.h"
#include "cellblock/session_loop.h"

/// @file
/// connection.h on the caller's Asio executor. A header alone, so any Boost from 1.74 on will do.
///
/// The last argument of an operation is a completion token, whose signature is void(Result<T>): a
/// function of a Result<T>, `boost::asio::use_awaitable`, `use_future`, `deferred`, ...
///
///     auto result = co_await session.call_tool("read_file", arguments,
///     boost::asio::use_awaitable);
///
/// A plain function is called on the session's executor, and its operation returns what
/// Connection's does: a CallId, for cancel(). A handler with an executor of its own is called
/// there. Where it has a cancellation slot (Boost 1.77), `terminal` and `partial` end its operation
/// as CallOptions::stop does: it completes once, with `cancelled`, and the server is told. Of
/// connect() and reconnect() they end the connection. With tokens that begin later (`deferred`,
/// awaitables) texts and options are copied, a descriptor is not; begin them on the session's
/// executor.
///
/// Threads: a session is not locked. Call it only from its executor, and let that be a strand if
/// several threads run the context. What may come from any thread: CallOptions::stop, and the
/// answer to an approval or to a question of the server. Every completion and handler runs there,
/// never inside the call that started it, but for Options::on_permission; exactly once each, also
/// when the session is closed or destroyed. Handlers may call into their session, and destroy it;
/// one that runs the context itself meets no other of the same session. Where the context is
/// destroyed, completions are destroyed with it and do not run.
///
/// What a handler throws is caught (Options::on_handler_failure). What a completion throws passes
/// through the executor to whoever runs it, and the session goes on.
///
/// After fork() a session belongs to the parent: in the child every operation is `other_process`,
/// and destroying it closes the descriptor and nothing more. The child must not run the executor's
/// context. One that was moved from is `disconnected`.
namespace cellblock::client {

/// A connection on an executor of Asio. Its functions are those of Connection, which says what each
/// of them does. Without CallOptions, or a deadline, those of CallOptions hold.
class Session {
 public:
  /// Does nothing yet: connect() does.
  Session(boost::asio::any_io_executor executor, Options options)
      : executor_(std::move(executor)),
        loop_(std::make_shared<Loop>(executor_, std::move(options))) {}
  /// Calls close(). Completions still run; they hold nothing of the session.
  ~Session() { Loop::release(std::move(loop_)); }
  // The executor is copied: what is asked of the other one is answered on it.
  /// The other one is `disconnected`; what was here is closed.
  ///@{
  // NOLINTNEXTLINE(performance-move-constructor-init)
  Session(Session&& other) noexcept : executor_(other.executor_), loop_(std::move(other.loop_)) {}
  Session& operator=(Session&& other) noexcept {
    if (this == &other) return *this;
    Loop::release(std::exchange(loop_, std::move(other.loop_)));
    executor_ = other.executor_;
    return *this;
  }

  ///@}

  /// The name that Asio's objects use.
  using executor_type = boost::asio::any_io_executor;
  /// On which completions and handlers run.
  executor_type get_executor() const { return executor_; }

  /// The operation of Connection that has this name, for a completion token.
  ///@{
  template <class Token>
  auto connect(Token&& token) {
    return begin<void>(
        {}, std::forward<Token>(token),
        [](Connection& on, const CallOptions& how, Completion<void> done) {
          on.connect(detail::ended_by(
              how.stop, on, [](Connection& which) { which.close(); }, std::move(done)));
        });
  }

  template <class Token>
  auto attach(std::string_view server, Token&& token) {
    return attach(server, AttachOptions{}, CallOptions{}, std::forward<Token>(token));
  }
  template <class Token>
  auto attach(std::string_view server, std::chrono::milliseconds deadline, Token&& token) {
    return attach(server, AttachOptions{}, deadline, std::forward<Token>(token));
  }
  template <class Token>
  auto attach(std::string_view server, const AttachOptions& with,
              std::chrono::milliseconds deadline, Token&& token) {
    return attach(server, with, CallOptions{.timeout = deadline}, std::forward<Token>(token));
  }
  template <class Token>
  auto attach(std::string_view server, const AttachOptions& with, const CallOptions& options,
              Token&& token) {
    return begin<Attached>(options, std::forward<Token>(token),
                           [server = std::string(server), with](
                               Connection& on, const CallOptions& how, Completion<Attached> done) {
                             on.attach(server, with, how, std::move(done));
                           });
  }

  template <class Token>
  auto initialize(Token&& token) {
    return initialize(CallOptions{}, std::forward<Token>(token));
  }
  template <class Token>
  auto initialize(std::chrono::milliseconds deadline, Token&& token) {
    return initialize(CallOptions{.timeout = deadline}, std::forward<Token>(token));
  }
  template <class Token>
  auto initialize(const CallOptions& options, Token&& token) {
    return begin<std::string>(
        options, std::forward<Token>(token),
        [](Connection& on, const CallOptions& how, Completion<std::string> done) {
          return on.initialize(how, std::move(done));
        });
  }

  template <class Token>
  auto list_tools(Token&& token) {
    return list_tools(CallOptions{}, std::forward<Token>(token));
  }
  template <class Token>
  auto list_tools(std::chrono::milliseconds deadline, Token&& token) {
    return list_tools(CallOptions{.timeout = deadline}, std::forward<Token>(token));
  }
  template <class Token>
  auto list_tools(const CallOptions& options, Token&& token) {
    return begin<std::vector<Tool>>(
        options, std::forward<Token>(token),
        [](Connection& on, const CallOptions& how, Completion<std::vector<Tool>> done) {
          return on.list_tools(how, std::move(done));
        });
  }

  template <class Token>
  auto call_tool(std::string_view tool, std::string_view arguments, Token&& token) {
    return call_tool(tool, arguments, CallOptions{}, std::forward<Token>(token));
  }
  template <class Token>
  auto call_tool(std::string_view tool, std::string_view arguments,
                 std::chrono::milliseconds deadline, Token&& token) {
    return call_tool(tool, arguments, CallOptions{.timeout = deadline}, std::forward<Token>(token));
  }
  template <class Token>
  auto call_tool(std::string_view tool, std::string_view arguments, const CallOptions& options,
                 Token&& token) {
    return begin<ToolResult>(
        options, std::forward<Token>(token),
        [tool = std::string(tool), arguments = std::string(arguments)](
            Connection& on, const CallOptions& how, Completion<ToolResult> done) {
          return on.call_tool(tool, arguments, how, std::move(done));
        });
  }

  template <class Token>
  auto list_resources(Token&& token) {
    return list_resources(CallOptions{}, std::forward<Token>(token));
  }
  template <class Token>
  auto list_resources(const CallOptions& options, Token&& token) {
    return begin<std::vector<Resource>>(
        options, std::forward<Token>(token),
        [](Connection& on, const CallOptions& how, Completion<std::vector<Resource>> done) {
          return on.list_resources(how, std::move(done));
        });
  }

  template <class Token>
  auto list_resource_templates(Token&& token) {
    return list_resource_templates(CallOptions{}, std::forward<Token>(token));
  }
  template <class Token>
  auto list_resource_templates(const CallOptions& options, Token&& token) {
    return begin<std::vector<ResourceTemplate>>(
        options, std::forward<Token>(token),
        [](Connection& on, const CallOptions& how, Completion<std::vector<ResourceTemplate>> done) {
          return on.list_resource_templates(how, std::move(done));
        });
  }

  template <class Token>
  auto read_resource(std::string_view uri, Token&& token) {
    return read_resource(uri, CallOptions{}, std::forward<Token>(token));
  }
  template <class Token>
  auto read_resource(std::string_view uri, const CallOptions& options, Token&& token) {
    return begin<std::string>(options, std::forward<Token>(token),
                              [uri = std::string(uri)](Connection& on, const CallOptions& how,
                                                       Completion<std::string> done) {
                                return on.read_resource(uri, how, std::move(done));
                              });
  }

  template <class Token>
  auto subscribe(std::string_view uri, Token&& token) {
    return subscribe(uri, CallOptions{}, std::forward<Token>(token));
  }
  template <class Token>
  auto subscribe(std::string_view uri, const CallOptions& options, Token&& token) {
    return begin<void>(
        options, std::forward<Token>(token),
        [uri = std::string(uri)](Connection& on, const CallOptions& how, Completion<void> done) {
          return on.subscribe(uri, how, std::move(done));
        });
  }

  template <class Token>
  auto unsubscribe(std::string_view uri, Token&& token) {
    return unsubscribe(uri, CallOptions{}, std::forward<Token>(token));
  }
  template <class Token>
  auto unsubscribe(std::string_view uri, const CallOptions& options, Token&& token) {
    return begin<void>(
        options, std::forward<Token>(token),
        [uri = std::string(uri)](Connection& on, const CallOptions& how, Completion<void> done) {
          return on.unsubscribe(uri, how, std::move(done));
        });
  }

  template <class Token>
  auto list_prompts(Token&& token) {
    return list_prompts(CallOptions{}, std::forward<Token>(token));
  }
  template <class Token>
  auto list_prompts(const CallOptions& options, Token&& token) {
    return begin<std::vector<Prompt>>(
        options, std::forward<Token>(token),
        [](Connection& on, const CallOptions& how, Completion<std::vector<Prompt>> done) {
          return on.list_prompts(how, std::move(done));
        });
  }

  template <class Token>
  auto get_prompt(std::string_view prompt, std::string_view arguments, Token&& token) {
    return get_prompt(prompt, arguments, CallOptions{}, std::forward<Token>(token));
  }
  template <class Token>
  auto get_prompt(std::string_view prompt, std::string_view arguments, const CallOptions& options,
                  Token&& token) {
    return begin<std::string>(
        options, std::forward<Token>(token),
        [prompt = std::string(prompt), arguments = std::string(arguments)](
            Connection& on, const CallOptions& how, Completion<std::string> done) {
          return on.get_prompt(prompt, arguments, how, std::move(done));
        });
  }

  template <class Token>
  auto complete(const ArgumentToComplete& what, Token&& token) {
    return complete(what, CallOptions{}, std::forward<Token>(token));
  }
  template <class Token>
  auto complete(const ArgumentToComplete& what, const CallOptions& options, Token&& token) {
    return begin<std::string>(
        options, std::forward<Token>(token),
        [what](Connection& on, const CallOptions& how, Completion<std::string> done) {
          return on.complete(what, how, std::move(done));
        });
  }

  template <class Token>
  auto set_log_level(LogLevel level, Token&& token) {
    return set_log_level(level, CallOptions{}, std::forward<Token>(token));
  }
  template <class Token>
  auto set_log_level(LogLevel level, const CallOptions& options, Token&& token) {
    return begin<void>(options, std::forward<Token>(token),
                       [level](Connection& on, const CallOptions& how, Completion<void> done) {
                         return on.set_log_level(level, how, std::move(done));
                       });
  }

  template <class Token>
  auto ping(Token&& token) {
    return ping(CallOptions{}, std::forward<Token>(token));
  }
  template <class Token>
  auto ping(const CallOptions& options, Token&& token) {
    return begin<void>(options, std::forward<Token>(token),
                       [](Connection& on, const CallOptions& how, Completion<void> done) {
                         return on.ping(how, std::move(done));
                       });
  }

  template <class Token>
  auto request(std::string_view method, std::string_view params, Token&& token) {
    return request(method, params, CallOptions{}, std::forward<Token>(token));
  }
  template <class Token>
  auto request(std::string_view method, std::string_view params, std::chrono::milliseconds deadline,
               Token&& token) {
    return request(method, params, CallOptions{.timeout = deadline}, std::forward<Token>(token));
  }
  template <class Token>
  auto request(std::string_view method, std::string_view params, const CallOptions& options,
               Token&& token) {
    return begin<std::string>(
        options, std::forward<Token>(token),
        [method = std::string(method), params = std::string(params)](
            Connection& on, const CallOptions& how, Completion<std::string> done) {
          return on.request(method, params, how, std::move(done));
        });
  }

  ///@}

  /// The function of Connection that has this name.
  ///@{
  Result<void> notify(std::string_view method, std::string_view params) {
    Result<void> sent = Unexpected(detail::no_session());
    run([&](Connection& on) { sent = on.notify(method, params); });
    return sent;
  }

  void cancel(CallId call) {
    run([&](Connection& on) { on.cancel(call); });
  }
  void cancel_all() {
    run([](Connection& on) { on.cancel_all(); });
  }

  ///@}

  /// Connection::reconnect, for a completion token.
  template <class Token>
  auto reconnect(const ReconnectOptions& with, Token&& token) {
    return begin<Attached>(
        {}, std::forward<Token>(token),
        [with](Connection& on, const CallOptions& how, Completion<Attached> done) {
          on.reconnect(with, detail::ended_by(
                                 how.stop, on, [](Connection& which) { which.cancel_all(); },
                                 std::move(done)));
        });
  }

  /// Connection::close.
  void close() {
    run([](Connection& on) { on.close(); });
  }

 private:
  using Loop = detail::SessionLoop;

  template <class T, class Token, class Start>
  auto begin(const CallOptions& options, Token&& token, Start start) {
    if constexpr (detail::PlainCallback<Token, T>) {
      return begin_plain<T>(options, Completion<T>(std::forward<Token>(token)), std::move(start));
    } else {
      return boost::asio::async_initiate<Token, void(Result<T>)>(
          detail::Initiation<T, Start>{executor_, loop_, options, std::move(start)}, token);
    }
  }

  template <class T, class Start>
  auto begin_plain(const CallOptions& options, Completion<T> done, Start start) {
    using Started = std::invoke_result_t<Start&, Connection&, const CallOptions&, Completion<T>>;
    auto call = CallId::none;
    const bool begun = run([&](Connection& on) {
      if constexpr (std::is_void_v<Started>) {
        start(on, options, std::move(done));
      } else {
        call = start(on, options, std::move(done));
      }
    });
    if (!begun) detail::refuse(executor_, std::move(done));
    if constexpr (!std::is_void_v<Started>) return call;
  }

  /// A copy of the pointer: a handler may destroy the session that it is called from.
  template <class Act>
  bool run(Act act) {
    const auto loop = loop_;
    if (!loop) return false;
    loop->run(std::move(act));
    return true;
  }

  boost::asio::any_io_executor executor_;  ///< also of what was moved from, for its completions
  std::shared_ptr<Loop> loop_;
};

}  // namespace cellblock::client
