#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// One face of the client library, as cellblock-bench drives it: "IN_FLIGHT CALLS" a line on stdin,
/// and on stdout the time that all of them took together, and that of each, in nanoseconds.
namespace cellblock::bench {

inline constexpr const char* face_tool = "echo";
inline constexpr const char* face_arguments = R"({"text":"hello, world"})";

class Round {
 public:
  using Clock = std::chrono::steady_clock;

  Round(unsigned in_flight, unsigned calls) : in_flight_(in_flight), left_(calls) {
    latencies_.reserve(calls);
  }

  unsigned in_flight() const { return in_flight_; }
  /// False: all calls have been made.
  bool take() {
    if (left_ == 0) return false;
    --left_;
    return true;
  }
  /// A call that began then has this text. Throws where it is another one than was sent.
  void answered(Clock::time_point began, std::string_view text);
  std::string report() const;

 private:
  unsigned in_flight_;
  unsigned left_;
  Clock::time_point began_ = Clock::now();
  std::vector<std::int64_t> latencies_;
};

/// Connected to the server of that name until it goes.
class Face {
 public:
  virtual ~Face() = default;
  virtual void run(Round& round) = 0;
};

}  // namespace cellblock::bench
