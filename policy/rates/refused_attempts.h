#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

/// Bounds what is recorded of refused attempts: who tries in a loop must fill neither the audit log
/// nor the journal. Counts by uid or address, in spans that the caller ends. Pure.
namespace cellblock {

class RefusedAttempts {
 public:
  static constexpr std::uint32_t recorded_each = 5;  ///< in a span; more are counted
  static constexpr std::size_t most_known = 64;      ///< likewise; attempts of others are one count

  /// Whether this attempt is recorded by itself.
  bool add(const std::string& who);

  struct LeftOut {
    std::string who;
    std::uint64_t count = 0;
    bool operator==(const LeftOut&) const = default;
  };
  struct Span {
    std::vector<LeftOut> left_out;  ///< at least one attempt each
    std::uint64_t of_others = 0;    ///< attempts of those beyond most_known
    bool operator==(const Span&) const = default;
  };
  /// What was counted and not recorded; the next span begins.
  Span end_span();

 private:
  std::map<std::string, std::uint64_t> attempts_;
  std::uint64_t of_others_ = 0;
};

}  // namespace cellblock
