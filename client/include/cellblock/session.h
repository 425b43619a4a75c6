#pragma once

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cellblock/connection.h"

/// connection.h on the caller's Asio executor. A header alone, so any Boost from 1.74 on will do.
///
/// Threads: a session is not locked. Call it only from its executor, and let that be a strand if
/// several threads run the context. What may come from any thread: CallOptions::stop, and the
/// answer to an approval or to a question of the server. Every completion and handler runs there,
/// never inside the call that started it, but for Options::on_permission; exactly once each, also
/// when the session is closed or destroyed. Handlers may call into their session, and destroy it;
/// one that runs the context itself meets no other of the same session.
///
/// What a handler throws is caught (Options::on_handler_failure). What a completion throws passes
/// through the executor to whoever runs it, and the session goes on.
///
/// After fork() a session belongs to the parent: in the child every operation is `other_process`,
/// and destroying it closes the descriptor and nothing more. The child must not run the executor's
/// context. One that was moved from is `disconnected`.
namespace cellblock::client {

/// The functions are those of Connection, which says what each of them does.
class Session {
 public:
  Session(boost::asio::any_io_executor executor, Options options)
      : executor_(executor),
        loop_(std::make_shared<Loop>(std::move(executor), std::move(options))) {}
  /// As close(). Completions still run; they hold nothing of the session.
  ~Session() { release(std::move(loop_)); }
  // The executor is copied: what is asked of the other one is answered on it.
  // NOLINTNEXTLINE(performance-move-constructor-init)
  Session(Session&& other) noexcept : executor_(other.executor_), loop_(std::move(other.loop_)) {}
  Session& operator=(Session&& other) noexcept {
    if (this == &other) return *this;
    release(std::exchange(loop_, std::move(other.loop_)));
    executor_ = other.executor_;
    return *this;
  }

  void connect(Completion<void> done) {
    run(done, [&](Connection& on) { on.connect(std::move(done)); });
  }

  void attach(std::string_view server, std::chrono::milliseconds deadline,
              Completion<Attached> done) {
    attach(server, AttachOptions{}, deadline, std::move(done));
  }
  void attach(std::string_view server, const AttachOptions& with,
              std::chrono::milliseconds deadline, Completion<Attached> done) {
    run(done, [&](Connection& on) { on.attach(server, with, deadline, std::move(done)); });
  }

  void initialize(std::chrono::milliseconds deadline, Completion<std::string> done) {
    run(done, [&](Connection& on) { on.initialize(deadline, std::move(done)); });
  }

  void list_tools(std::chrono::milliseconds deadline, Completion<std::vector<Tool>> done) {
    run(done, [&](Connection& on) { on.list_tools(deadline, std::move(done)); });
  }

  CallId call_tool(std::string_view tool, std::string_view arguments,
                   std::chrono::milliseconds deadline, Completion<ToolResult> done) {
    return call_tool(tool, arguments, CallOptions{.timeout = deadline}, std::move(done));
  }
  CallId call_tool(std::string_view tool, std::string_view arguments, const CallOptions& options,
                   Completion<ToolResult> done) {
    auto call = CallId::none;
    run(done,
        [&](Connection& on) { call = on.call_tool(tool, arguments, options, std::move(done)); });
    return call;
  }

  CallId request(std::string_view method, std::string_view params,
                 std::chrono::milliseconds deadline, Completion<std::string> done) {
    return request(method, params, CallOptions{.timeout = deadline}, std::move(done));
  }
  CallId request(std::string_view method, std::string_view params, const CallOptions& options,
                 Completion<std::string> done) {
    auto call = CallId::none;
    run(done, [&](Connection& on) { call = on.request(method, params, options, std::move(done)); });
    return call;
  }

  Result<void> notify(std::string_view method, std::string_view params) {
    Result<void> sent = Unexpected(moved_from());
    run([&](Connection& on) { sent = on.notify(method, params); });
    return sent;
  }

  void cancel(CallId call) {
    run([&](Connection& on) { on.cancel(call); });
  }
  void cancel_all() {
    run([](Connection& on) { on.cancel_all(); });
  }

  void reconnect(const ReconnectOptions& with, Completion<Attached> done) {
    run(done, [&](Connection& on) { on.reconnect(with, std::move(done)); });
  }

  void close() {
    run([](Connection& on) { on.close(); });
  }

 private:
  using ErrorOfAsio = boost::system::error_code;

  /// The connection, and what of Asio waits for it. The descriptor stays the connection's.
  struct Loop : std::enable_shared_from_this<Loop> {
    Loop(boost::asio::any_io_executor executor, Options options)
        : connection(std::move(options)), descriptor(executor), timer(executor) {
      ErrorOfAsio ignored;  // without one there is no connection either
      if (connection.descriptor() < 0) return;
      static_cast<void>(descriptor.assign(connection.descriptor(), ignored));
    }
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;
    // What has not run by now has no loop to run in.
    ~Loop() {
      if (descriptor.is_open()) descriptor.release();
      connection.discard();
    }

    // Waits for what the connection waits for, and for nothing where that is over: the context may
    // end then.
    void arm() {
      if (!connection.is_active()) {
        ErrorOfAsio ignored;
        if (is_waiting) static_cast<void>(descriptor.cancel(ignored));
      } else if (!is_waiting && descriptor.is_open()) {
        is_waiting = true;
        descriptor.async_wait(descriptor.wait_read,
                              [weak = weak_from_this()](const ErrorOfAsio& error) {
                                if (const auto self = weak.lock()) self->woken(error);
                              });
      }
      arm_timer();
    }

    void arm_timer() {
      const auto end = connection.deadline();
      if (end == timer_end) return;
      timer_end = end;
      if (end == Connection::TimePoint::max()) {
        timer.cancel();
        return;
      }
      timer.expires_at(end);
      timer.async_wait([weak = weak_from_this()](const ErrorOfAsio& error) {
        const auto self = weak.lock();
        if (error || !self) return;
        self->timer_end = Connection::TimePoint::max();
        self->process();
      });
    }

    void woken(const ErrorOfAsio& error) {
      is_waiting = false;
      if (!error) return process();
      if (error == boost::asio::error::operation_aborted) arm();
    }

    // Also where a completion throws.
    void process() {
      const Armed after{*this};
      static_cast<void>(connection.process());
    }

    struct Armed {
      explicit Armed(Loop& which) : loop(which) {}
      Armed(const Armed&) = delete;
      Armed& operator=(const Armed&) = delete;
      ~Armed() { loop.arm(); }
      Loop& loop;
    };

    Connection connection;
    boost::asio::posix::stream_descriptor descriptor;
    boost::asio::steady_timer timer;
    Connection::TimePoint timer_end = Connection::TimePoint::max();  ///< what it is set to
    bool is_waiting = false;
    bool is_released = false;  ///< no session has it any more
  };

  /// What a child of fork() has of its parent: destroyed, it would take the descriptor out of the
  /// epoll set that both have.
  struct Kept {
    std::shared_ptr<Loop> loop;
    Kept* next = nullptr;
  };

  static Error moved_from() {
    return {.code = ErrorCode::disconnected, .text = "it was moved from, and has no connection"};
  }

  /// A copy of the pointer: a handler may destroy the session that it is called from.
  template <class Act>
  bool run(Act act) {
    const auto loop = loop_;
    if (!loop) return false;
    act(loop->connection);
    if (loop->connection.is_of_other_process()) return true;
    // on_permission has destroyed the session: what it was asked about completes all the same.
    if (loop->is_released) {
      finish(loop);
    } else {
      loop->arm();
    }
    return true;
  }

  template <class T, class Act>
  void run(Completion<T>& done, Act act) {
    if (run(std::move(act))) return;
    boost::asio::post(executor_,
                      [done = std::move(done)]() mutable { done(Unexpected(moved_from())); });
  }

  static void release(std::shared_ptr<Loop> loop) {
    if (!loop) return;
    if (loop->connection.is_of_other_process()) return keep(std::move(loop));
    loop->is_released = true;
    loop->connection.close();
    loop->timer.cancel();
    finish(std::move(loop));
  }

  static void keep(std::shared_ptr<Loop> loop) {
    static std::atomic<Kept*> all{nullptr};
    {
      const Connection closed = std::move(loop->connection);
    }
    auto* const kept = new Kept{std::move(loop), all.load()};
    while (!all.compare_exchange_weak(kept->next, kept)) {
    }
  }

  /// One completion that throws leaves the rest for the next time.
  static void finish(std::shared_ptr<Loop> loop) {
    if (!loop->connection.is_active()) return;
    const auto executor = loop->timer.get_executor();
    boost::asio::post(executor, [loop = std::move(loop)]() mutable {
      struct Again {
        explicit Again(std::shared_ptr<Loop> which) : rest(std::move(which)) {}
        Again(const Again&) = delete;
        Again& operator=(const Again&) = delete;
        ~Again() { finish(std::move(rest)); }
        std::shared_ptr<Loop> rest;
      };
      const Again after(loop);
      static_cast<void>(loop->connection.process());
    });
  }

  boost::asio::any_io_executor executor_;  ///< also of what was moved from, for its completions
  std::shared_ptr<Loop> loop_;
};

}  // namespace cellblock::client
