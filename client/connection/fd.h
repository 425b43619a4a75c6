#pragma once

#include <unistd.h>

#include <utility>

namespace cellblock::client {

/// An owned file descriptor. Moves; closes once.
class OwnedFd {
 public:
  OwnedFd() = default;
  explicit OwnedFd(int number) : number_(number) {}
  OwnedFd(OwnedFd&& other) noexcept : number_(other.release()) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  OwnedFd(const OwnedFd&) = delete;
  OwnedFd& operator=(const OwnedFd&) = delete;
  ~OwnedFd() {
    if (number_ >= 0) ::close(number_);
  }

  int get() const { return number_; }
  bool valid() const { return number_ >= 0; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_ = -1;
};

}  // namespace cellblock::client
