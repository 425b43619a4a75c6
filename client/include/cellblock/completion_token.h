#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/version.hpp>
#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "cellblock/connection.h"
#include "cellblock/session_loop.h"

#if BOOST_VERSION >= 107700
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/cancellation_type.hpp>
#endif

/// How an operation of a Session completes a token of Asio. Not for programs.
namespace cellblock::client::detail {

/// What an associator gives where a handler has nothing of its own.
struct NothingOfItsOwn {};

/// Asked for what a token's operation returns; never called.
struct InitiationProbe {
  template <class Handler>
  void operator()(Handler&&) const {}
};

template <class Handler>
inline constexpr bool has_executor =
    !std::is_same_v<typename boost::asio::associated_executor<Handler, NothingOfItsOwn>::type,
                    NothingOfItsOwn>;

#if BOOST_VERSION >= 107700
template <class Handler>
inline constexpr bool has_slot = !std::is_same_v<
    typename boost::asio::associated_cancellation_slot<Handler, NothingOfItsOwn>::type,
    NothingOfItsOwn>;
#else
template <class Handler>
inline constexpr bool has_slot = false;
#endif

/// A function that is called with the outcome, and nothing more: such a one goes to the connection
/// as it is. `use_future` and `deferred` may be called with anything as well, but give something
/// back.
template <class Token, class T>
concept PlainCallback =
    std::is_convertible_v<Token, Completion<T>> && !has_executor<std::decay_t<Token>> &&
    !has_slot<std::decay_t<Token>> && requires(std::decay_t<Token>& token) {
      {
        boost::asio::async_initiate<std::decay_t<Token>, void(Result<T>)>(InitiationProbe(), token)
      } -> std::same_as<void>;
    };

#if BOOST_VERSION >= 107700
/// What the host's signal does to its operation. `total` is ignored: it promises that nothing was
/// carried out, which cannot be known of a request that was sent.
struct StopsOperation {
  void operator()(boost::asio::cancellation_type_t type) {
    using boost::asio::cancellation_type_t;
    const auto heard = cancellation_type_t::terminal | cancellation_type_t::partial;
    if ((type & heard) != cancellation_type_t::none) source.request_stop();
  }
  std::stop_source source;
};
#endif

/// A stop of the host's that is handed on.
struct ForwardsStop {
  void operator()() { to.request_stop(); }
  std::stop_source to;
};
using ForwardedStop = std::unique_ptr<std::stop_callback<ForwardsStop>>;

/// From now on the handler's cancellation slot requests `options.stop` too. While the returned
/// object lives, the former stop source does so as well.
template <class Handler>
ForwardedStop hear_slot(Handler& handler, CallOptions& options) {
#if BOOST_VERSION >= 107700
  auto slot = boost::asio::get_associated_cancellation_slot(handler);
  if (!slot.is_connected()) return nullptr;
  const auto source = slot.template emplace<StopsOperation>().source;
  const auto before = std::exchange(options.stop, source.get_token());
  if (!before.stop_possible()) return nullptr;
  return std::make_unique<std::stop_callback<ForwardsStop>>(before, ForwardsStop{source});
#else
  static_cast<void>(handler);
  static_cast<void>(options);
  return nullptr;
#endif
}

template <class Handler>
void leave_slot(Handler& handler) {
#if BOOST_VERSION >= 107700
  auto slot = boost::asio::get_associated_cancellation_slot(handler);
  if (slot.is_connected()) slot.clear();
#else
  static_cast<void>(handler);
#endif
}

/// A Completion for a handler of Asio: calls it on its executor, which has work until then.
template <class T, class Handler>
class HandlerCompletion {
 public:
  HandlerCompletion(Handler handler, const boost::asio::any_io_executor& executor,
                    ForwardedStop stop)
      : handler_(std::move(handler)),
        work_(boost::asio::get_associated_executor(handler_, executor)),
        stop_(std::move(stop)) {}

  void operator()(Result<T> result) {
    leave_slot(handler_);
    stop_.reset();
    const auto executor = work_.get_executor();
    boost::asio::dispatch(executor, [work = std::move(work_), handler = std::move(handler_),
                                     result = std::move(result)]() mutable {
      std::move(handler)(std::move(result));
    });
  }

 private:
  using Executor =
      typename boost::asio::associated_executor<Handler, boost::asio::any_io_executor>::type;

  Handler handler_;
  boost::asio::executor_work_guard<Executor> work_;
  ForwardedStop stop_;
};

template <class T>
void refuse(const boost::asio::any_io_executor& executor, Completion<T> done) {
  boost::asio::post(executor,
                    [done = std::move(done)]() mutable { done(Unexpected(no_session())); });
}

/// Begins an operation for a handler of Asio, now or later.
template <class T, class Start>
struct Initiation {
  using executor_type = boost::asio::any_io_executor;
  executor_type get_executor() const noexcept { return executor; }

  template <class Handler>
  void operator()(Handler handler) {
    auto stop = hear_slot(handler, options);
    Completion<T> done(
        HandlerCompletion<T, Handler>(std::move(handler), executor, std::move(stop)));
    const auto loop = where.lock();
    if (!loop || loop->is_released()) return refuse(executor, std::move(done));
    loop->run([&](Connection& on) { start(on, options, std::move(done)); });
  }

  boost::asio::any_io_executor executor;
  std::weak_ptr<SessionLoop> where;
  CallOptions options;
  Start start;
};

/// An operation that has no deadline of its own and no number: where `stop` is requested, `end`
/// ends it, in process().
template <class T, class End>
Completion<T> ended_by(const std::stop_token& stop, Connection& on, End end, Completion<T> done) {
  if (!stop.stop_possible()) return done;
  struct Operation {
    Completion<T> done = {};
    std::optional<std::stop_callback<std::function<void()>>> on_stop = {};
  };
  const auto operation = std::make_shared<Operation>();
  operation->done = std::move(done);
  operation->on_stop.emplace(stop, [&on, end, weak = std::weak_ptr(operation)] {
    on.post([&on, end, weak] {
      if (const auto pending = weak.lock(); pending && pending->done) end(on);
    });
  });
  return [operation](Result<T> result) {
    operation->on_stop.reset();
    std::exchange(operation->done, nullptr)(std::move(result));
  };
}

}  // namespace cellblock::client::detail
