#pragma once

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <utility>

#include "cellblock/connection.h"

/// How a Session waits for its connection. Not for programs.
namespace cellblock::client::detail {

inline Error no_session() {
  return {.code = ErrorCode::disconnected, .text = "it was moved from, and has no connection"};
}

/// A connection, and what of Asio waits for it. The descriptor stays the connection's.
class SessionLoop : public std::enable_shared_from_this<SessionLoop> {
 public:
  SessionLoop(const boost::asio::any_io_executor& executor, Options options)
      : connection_(std::move(options)), descriptor_(executor), timer_(executor) {
    ErrorOfAsio ignored;  // without one there is no connection either
    if (connection_.descriptor() < 0) return;
    // Gives an error_code with Asio's deprecated names, nothing without: both are to be ignored.
    static_cast<void>(  // NOLINT(readability-redundant-casting)
        descriptor_.assign(connection_.descriptor(), ignored));
  }
  SessionLoop(const SessionLoop&) = delete;
  SessionLoop& operator=(const SessionLoop&) = delete;
  // What has not run by now has no loop to run in.
  ~SessionLoop() {
    if (descriptor_.is_open()) descriptor_.release();
    connection_.discard();
  }

  template <class Act>
  void run(Act act) {
    act(connection_);
    if (connection_.is_of_other_process()) return;
    // on_permission has destroyed the session: what it was asked about completes all the same.
    if (is_released_) {
      finish(shared_from_this());
    } else {
      arm();
    }
  }

  /// The session has been destroyed: no operation is begun any more.
  bool is_released() const { return is_released_; }

  /// Ends the connection; completions run all the same.
  static void release(std::shared_ptr<SessionLoop> loop) {
    if (!loop) return;
    loop->is_released_ = true;
    if (loop->connection_.is_of_other_process()) return keep(std::move(loop));
    loop->connection_.close();
    loop->timer_.cancel();
    finish(std::move(loop));
  }

 private:
  using ErrorOfAsio = boost::system::error_code;

  /// Waits for the descriptor. Destroyed without having been called: the context has ended, and
  /// with it what would have completed; a coroutine that holds its session is freed by this alone.
  class Wait {
   public:
    explicit Wait(std::weak_ptr<SessionLoop> loop) : loop_(std::move(loop)) {}
    Wait(Wait&&) noexcept = default;
    Wait(const Wait&) = delete;
    Wait& operator=(Wait&&) = delete;
    Wait& operator=(const Wait&) = delete;
    ~Wait() {
      if (const auto loop = loop_.lock()) loop->abandon();
    }
    void operator()(const ErrorOfAsio& error) {
      const auto called = std::move(loop_);
      if (const auto loop = called.lock()) loop->woken(error);
    }

   private:
    std::weak_ptr<SessionLoop> loop_;
  };

  // Waits for what the connection waits for, and for nothing where that is over: the context may
  // end then.
  void arm() {
    if (!connection_.is_active()) {
      ErrorOfAsio ignored;
      if (is_waiting_) {
        static_cast<void>(descriptor_.cancel(ignored));  // NOLINT(readability-redundant-casting)
      }
    } else if (!is_waiting_ && descriptor_.is_open()) {
      is_waiting_ = true;
      descriptor_.async_wait(descriptor_.wait_read, Wait(weak_from_this()));
    }
    arm_timer();
  }

  void arm_timer() {
    const auto end = connection_.deadline();
    if (end == timer_end_) return;
    timer_end_ = end;
    if (end == Connection::TimePoint::max()) {
      timer_.cancel();
      return;
    }
    timer_.expires_at(end);
    timer_.async_wait([weak = weak_from_this()](const ErrorOfAsio& error) {
      const auto self = weak.lock();
      if (error || !self) return;
      self->timer_end_ = Connection::TimePoint::max();
      self->process();
    });
  }

  void woken(const ErrorOfAsio& error) {
    is_waiting_ = false;
    if (!error) return process();
    if (error == boost::asio::error::operation_aborted) arm();
  }

  // Also where a completion throws.
  void process() {
    const Armed after{*this};
    static_cast<void>(connection_.process());
  }

  struct Armed {
    explicit Armed(SessionLoop& which) : loop(which) {}
    Armed(const Armed&) = delete;
    Armed& operator=(const Armed&) = delete;
    ~Armed() { loop.arm(); }
    SessionLoop& loop;
  };

  /// Destroys the completions that are left, and what they hold.
  void abandon() {
    connection_.discard();
    connection_.close();
  }

  /// What a child of fork() has of its parent: destroyed, it would take the descriptor out of the
  /// epoll set that both have.
  struct Kept {
    std::shared_ptr<SessionLoop> loop;
    Kept* next = nullptr;
  };

  static void keep(std::shared_ptr<SessionLoop> loop) {
    static std::atomic<Kept*> all{nullptr};
    {
      const Connection closed = std::move(loop->connection_);
    }
    auto* const kept = new Kept{std::move(loop), all.load()};
    while (!all.compare_exchange_weak(kept->next, kept)) {
    }
  }

  /// A completion that throws leaves the others for the next call.
  static void finish(std::shared_ptr<SessionLoop> loop) {
    if (!loop->connection_.is_active()) return;
    const auto executor = loop->timer_.get_executor();
    boost::asio::post(executor, [loop = std::move(loop)]() mutable {
      struct Again {
        explicit Again(std::shared_ptr<SessionLoop> which) : rest(std::move(which)) {}
        Again(const Again&) = delete;
        Again& operator=(const Again&) = delete;
        ~Again() { finish(std::move(rest)); }
        std::shared_ptr<SessionLoop> rest;
      };
      const Again after(loop);
      static_cast<void>(loop->connection_.process());
    });
  }

  Connection connection_;
  boost::asio::posix::stream_descriptor descriptor_;
  boost::asio::steady_timer timer_;
  Connection::TimePoint timer_end_ = Connection::TimePoint::max();  ///< what it is set to
  bool is_waiting_ = false;
  bool is_released_ = false;
};

}  // namespace cellblock::client::detail
