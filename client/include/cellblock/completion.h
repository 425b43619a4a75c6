#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include "cellblock/error.h"

/// @file
/// Where an outcome goes.
namespace cellblock::client {

/// Receives the outcome of an asynchronous operation, exactly once. Any function of a Result<T>; it
/// is moved in and need not be copyable.
template <class T>
class Completion {
 public:
  /// Empty: may not be called.
  ///@{
  Completion() = default;
  // NOLINTNEXTLINE(google-explicit-constructor,hicpp-explicit-conversions): as functions have it
  Completion(std::nullptr_t) {}
  ///@}
  /// Any function of a Result<T>.
  template <class Function>
    requires(!std::is_same_v<std::remove_cvref_t<Function>, Completion> &&
             std::is_invocable_v<std::decay_t<Function>&, Result<T>>)
  // NOLINTNEXTLINE(google-explicit-constructor,hicpp-explicit-conversions): as functions have it
  Completion(Function&& function)
      : holder_(
            std::make_unique<Holding<std::decay_t<Function>>>(std::forward<Function>(function))) {}

  /// There is a function.
  explicit operator bool() const noexcept { return holder_ != nullptr; }

  /// Calls the function, which has to be there.
  void operator()(Result<T> outcome) { holder_->call(std::move(outcome)); }

 private:
  struct Holder {
    Holder() = default;
    Holder(const Holder&) = delete;
    Holder& operator=(const Holder&) = delete;
    virtual ~Holder() = default;
    virtual void call(Result<T> outcome) = 0;
  };
  template <class Function>
  struct Holding final : Holder {
    explicit Holding(Function from) : function(std::move(from)) {}
    void call(Result<T> outcome) override { function(std::move(outcome)); }

    Function function;
  };

  std::unique_ptr<Holder> holder_;
};

}  // namespace cellblock::client
