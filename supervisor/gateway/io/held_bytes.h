#pragma once

#include <algorithm>
#include <cstddef>

namespace cellblock::gateway {

/// What all sessions of one gateway together hold of what their hosts have sent and not finished,
/// or not read. Each is bounded by itself; many at their bounds are more memory than one user may
/// take. Likewise of lists of tools that are searched. Pure.
class HeldBytes {
 public:
  static constexpr std::size_t usual_most = 256U << 20;
  explicit HeldBytes(std::size_t most = usual_most) : most_(most) {}

  /// A session that holds no more than this is not the one to end.
  static constexpr std::size_t always_allowed = 1U << 20;

  /// One session's part.
  class Part {
   public:
    explicit Part(HeldBytes& all) : all_(all) {}
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;
    ~Part() { all_.total_ -= bytes_; }

    /// False: all of them hold too much, and this one not little of it.
    bool set(std::size_t bytes) {
      all_.total_ = all_.total_ - bytes_ + bytes;
      bytes_ = bytes;
      return all_.total_ <= all_.most_ || bytes <= always_allowed;
    }

   private:
    HeldBytes& all_;
    std::size_t bytes_ = 0;
  };

  std::size_t total() const { return total_; }
  std::size_t most() const { return most_; }
  /// Raises the bound where the configuration gives one session nearly that much.
  void allow_at_least(std::size_t bytes) { most_ = std::max(most_, bytes); }

 private:
  std::size_t most_;
  std::size_t total_ = 0;
};

}  // namespace cellblock::gateway
