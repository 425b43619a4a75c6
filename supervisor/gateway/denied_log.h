#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

/// What the cells of one server were refused: counted by what it was, and the last ones with their
/// times. Bounded in every direction, since the server chooses what it tries. Pure.
namespace cellblock::gateway {

struct Denied {
  std::uint64_t cell = 0;
  std::int64_t at_ms = 0;  ///< Unix time
  std::string what;        ///< "mount", "connect api.example.org:443"
  std::string reason;
  std::string allow;  ///< the TOML that would allow it; empty: nothing does
  std::uint64_t count = 1;
};

class DeniedLog {
 public:
  static constexpr std::size_t max_kinds = 64;  ///< the rest is counted as one
  static constexpr std::size_t max_recent = 200;
  static constexpr std::size_t max_text = 512;

  struct Kind {
    std::string what;
    std::string reason;
    std::string allow;
    std::uint64_t count = 0;
  };

  /// Alike denials of one cell in a row become one.
  void add(Denied denied);

  /// The most frequent `count` kinds.
  std::vector<Kind> most(std::size_t count) const;
  /// The newest `count`, oldest first.
  std::vector<const Denied*> last(std::size_t count) const;
  std::uint64_t total() const { return total_; }

 private:
  std::map<std::string, Kind> kinds_;  ///< by `what`
  std::deque<Denied> recent_;
  std::uint64_t total_ = 0;
};

/// How many audit records a cell's denials and connections may make: what is beyond is summed up in
/// the next one, so that no server can fill the log or slow its user's calls down with it.
class AuditBudget {
 public:
  static constexpr std::uint32_t burst = 20;
  static constexpr std::int64_t one_per_ms = 500;

  /// How many events the record of this one stands for; 0: none is to be written.
  [[nodiscard]] std::uint64_t spend(std::uint64_t count, std::int64_t now_ms);
  /// What no record stands for yet.
  std::uint64_t rest() const { return held_back_; }

 private:
  std::uint32_t left_ = burst;
  std::int64_t refilled_ms_ = 0;
  std::uint64_t held_back_ = 0;
};

}  // namespace cellblock::gateway
