#pragma once

#include <concepts>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

#include "cellblock/language.h"

#if __cplusplus > 202002L && __has_include(<expected>)
#include <expected>  // std::unexpected becomes a result as well
#endif

/// @file
/// A value or an error, as std::expected of C++23 has it, for C++20. Its layout is the library's
/// own, so a program and the library need not agree about the version of the language.
namespace cellblock::client {

/// An error on its way into a result: `return Unexpected(Error{...});`. std::unexpected will do.
template <class E>
class Unexpected {
 public:
  /// Takes the error.
  explicit Unexpected(E error) : error_(std::move(error)) {}

  /// What it was made of.
  ///@{
  const E& error() const& noexcept { return error_; }
  E&& error() && noexcept { return std::move(error_); }
  ///@}

 private:
  E error_;
};

/// What Expected::value() throws where there is an error. `*result` checks nothing.
class BadExpectedAccess : public std::exception {
 public:
  /// The same sentence for all errors.
  const char* what() const noexcept override { return "a result without a value was asked for it"; }
};

namespace detail {

template <class U, class E>
concept ErrorHolder = requires(U&& from) {
  { std::forward<U>(from).error() } -> std::convertible_to<E>;
} && !requires(const std::remove_cvref_t<U>& from) { from.has_value(); };

struct NoValue {};

template <class U>
inline constexpr bool is_expected = false;

}  // namespace detail

/// A value of T or an error of E; every member is as std::expected has it.
template <class T, class E>
class [[nodiscard]] Expected {
  using Stored = std::conditional_t<std::is_void_v<T>, detail::NoValue, T>;
  template <class U>
  static constexpr bool is_value =
      !std::is_void_v<T> && !std::is_same_v<std::remove_cvref_t<U>, Expected> &&
      !detail::ErrorHolder<U, E> && std::is_constructible_v<Stored, U>;

 public:
  /// As in std::expected.
  ///@{
  using value_type = T;
  using error_type = E;

  Expected()
    requires std::is_void_v<T> || std::is_default_constructible_v<T>
      : has_value_(true) {
    std::construct_at(&value_);
  }
  template <class U = Stored>
    requires is_value<U>
  // NOLINTNEXTLINE(google-explicit-constructor,hicpp-explicit-conversions): as a value is returned
  Expected(U&& value) : has_value_(true) {
    std::construct_at(&value_, std::forward<U>(value));
  }
  template <class U>
    requires detail::ErrorHolder<U, E>
  // NOLINTNEXTLINE(google-explicit-constructor,hicpp-explicit-conversions): as an error is returned
  Expected(U&& unexpected) : has_value_(false) {
    std::construct_at(&error_, std::forward<U>(unexpected).error());
  }

  Expected(const Expected& other)
    requires std::is_copy_constructible_v<Stored>
      : has_value_(other.has_value_) {
    take(other);
  }
  Expected(Expected&& other) noexcept : has_value_(other.has_value_) { take(std::move(other)); }
  Expected& operator=(const Expected& other)
    requires std::is_copy_constructible_v<Stored>
  {
    if (this == &other) return *this;
    Expected copy(other);  // before anything is let go
    return *this = std::move(copy);
  }
  Expected& operator=(Expected&& other) noexcept {
    if (this == &other) return *this;
    drop();
    has_value_ = other.has_value_;
    take(std::move(other));
    return *this;
  }
  ~Expected() { drop(); }

  ///@}
  /// Whether it is a value.
  ///@{
  bool has_value() const noexcept { return has_value_; }
  explicit operator bool() const noexcept { return has_value_; }
  ///@}

  /// Only for a result with a value: not checked.
  ///@{
  Stored& operator*() & noexcept
    requires(!std::is_void_v<T>)
  {
    return value_;
  }
  const Stored& operator*() const& noexcept
    requires(!std::is_void_v<T>)
  {
    return value_;
  }
  Stored&& operator*() && noexcept
    requires(!std::is_void_v<T>)
  {
    return std::move(value_);
  }
  void operator*() const& noexcept
    requires std::is_void_v<T>
  {}
  Stored* operator->() noexcept
    requires(!std::is_void_v<T>)
  {
    return &value_;
  }
  const Stored* operator->() const noexcept
    requires(!std::is_void_v<T>)
  {
    return &value_;
  }

  ///@}

  /// Throws BadExpectedAccess where there is none.
  ///@{
  decltype(auto) value() & { return *checked(*this); }
  decltype(auto) value() const& { return *checked(*this); }
  decltype(auto) value() && { return *std::move(checked(*this)); }

  ///@}

  /// The value, or something else.
  ///@{
  template <class U>
  T value_or(U&& otherwise) const&
    requires(!std::is_void_v<T>)
  {
    return has_value_ ? value_ : static_cast<T>(std::forward<U>(otherwise));
  }
  template <class U>
      T value_or(U&& otherwise) &&
      requires(!std::is_void_v<T>) {
        return has_value_ ? std::move(value_) : static_cast<T>(std::forward<U>(otherwise));
      }
      ///@}

      /// Only for a result without a value.
      ///@{
      E& error() & noexcept {
    return error_;
  }
  const E& error() const& noexcept { return error_; }
  E&& error() && noexcept { return std::move(error_); }
  ///@}

 private:
  template <class Self>
  static Self& checked(Self& self) {
    if (!self.has_value_) throw BadExpectedAccess();
    return self;
  }
  template <class Other>
  void take(Other&& other) {
    if (has_value_) {
      std::construct_at(&value_, std::forward<Other>(other).value_);
    } else {
      std::construct_at(&error_, std::forward<Other>(other).error_);
    }
  }
  void drop() noexcept { has_value_ ? std::destroy_at(&value_) : std::destroy_at(&error_); }

  union {
    Stored value_;
    E error_;
  };
  bool has_value_;
};

template <class T, class E>
inline constexpr bool detail::is_expected<Expected<T, E>> = true;

/// Whether both have the same value or the same error. Both are deduced: nothing is made a result
/// in order to be compared.
///@{
template <class T, class E>
bool operator==(const Expected<T, E>& a, const Expected<T, E>& b) {
  if (a.has_value() != b.has_value()) return false;
  if (!a) return a.error() == b.error();
  if constexpr (std::is_void_v<T>) {
    return true;
  } else {
    return *a == *b;
  }
}
template <class T, class E, class U>
  requires(!std::is_void_v<T> && !detail::is_expected<U>)
bool operator==(const Expected<T, E>& a, const U& b) {
  return a && *a == b;
}
///@}

}  // namespace cellblock::client
