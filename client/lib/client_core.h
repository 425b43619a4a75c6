#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>
#include <type_traits>
#include <utility>

#include "cellblock/client.h"
#include "cellblock/connection.h"

/// The inside of a Client, and of the C interface: a connection that one thread at a time uses.
namespace cellblock::client {

struct [[gnu::visibility("hidden")]] Client::Impl {
  using TimePoint = Connection::TimePoint;

  explicit Impl(Options options) : connection(std::move(options)) {}

  /// Starts an operation and waits until it has completed.
  template <class T, class Start>
  Result<T> wait(Start start) {
    std::optional<Result<T>> result;
    start([&result](Result<T> outcome) { result = std::move(outcome); });
    while (!result) wait_once(TimePoint::max());
    return *std::move(result);
  }

  /// The same for an operation that the token ends early.
  template <class T, class Start>
  Result<T> wait(const std::stop_token& stop, Start start) {
    // What the token's thread posts may run only after this operation is over.
    const auto waiting = std::make_shared<bool>(true);
    const std::stop_callback on_stop(stop, [this, waiting] {
      connection.post([this, waiting] {
        if (*waiting) connection.cancel_all();
      });
    });
    auto result = wait<T>(std::move(start));
    *waiting = false;
    return result;
  }

  void wait_once(TimePoint until);

  /// For the length of `act` no other function has it. Shared: a handler may destroy the client
  /// that it is called from.
  template <class Act>
  static std::invoke_result_t<Act, Impl&> use(std::shared_ptr<Impl> impl, Act act);

  /// The same for what waits for nothing: also from a handler or a completion of the thread that
  /// uses it already.
  template <class Act>
  static std::invoke_result_t<Act, Impl&> start(std::shared_ptr<Impl> impl, Act act);

  void close();
  static void release(std::shared_ptr<Impl> impl);

 private:
  class Use;

  static std::optional<Error> why_unusable(const std::shared_ptr<Impl>& impl);
  static Error in_use();
  bool take();
  void give_back();
  void close_if_wanted();
  bool is_mine() const { return user_ == std::this_thread::get_id(); }

  std::atomic<std::thread::id> user_;  ///< whose call runs
  std::atomic<bool> close_wanted_ = false;

 public:
  Connection connection;  ///< last: what it runs while it is destroyed looks at the others
};

class Client::Impl::Use {
 public:
  explicit Use(Impl& impl) : impl_(impl) {}
  ~Use() {
    impl_.give_back();
    impl_.close_if_wanted();
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  Impl& impl_;
};

template <class Act>
// NOLINTNEXTLINE(performance-unnecessary-value-param): the copy keeps it while `act` runs
std::invoke_result_t<Act, Client::Impl&> Client::Impl::use(std::shared_ptr<Impl> impl, Act act) {
  if (auto why = why_unusable(impl)) return Unexpected(*std::move(why));
  if (!impl->take()) return Unexpected(in_use());
  const Use now(*impl);
  return act(*impl);
}

template <class Act>
std::invoke_result_t<Act, Client::Impl&> Client::Impl::start(std::shared_ptr<Impl> impl, Act act) {
  if (impl && !impl->connection.is_of_other_process() && impl->is_mine()) return act(*impl);
  return use(std::move(impl), std::move(act));
}

}  // namespace cellblock::client
