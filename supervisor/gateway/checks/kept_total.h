#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "policy/config/result_rules.h"
#include "supervisor/os/clock.h"

namespace cellblock::gateway {

class KeptResults;

/// What all sessions of a user keep together. Outlives them.
class KeptTotal {
 public:
  /// Fills the whole span with random bytes; must not fail.
  using Fill = std::function<void(std::span<std::byte>)>;

  KeptTotal(const ResultKeeping& rules, Fill fill) : rules_(rules), fill_(std::move(fill)) {}
  KeptTotal(const KeptTotal&) = delete;
  KeptTotal& operator=(const KeptTotal&) = delete;

  const ResultKeeping& rules() const { return rules_; }
  std::uint64_t bytes() const;
  /// 128 random bits, in hexadecimal digits.
  std::string new_id();

  void add(KeptResults& session) { sessions_.push_back(&session); }
  void remove(KeptResults& session) { std::erase(sessions_, &session); }
  /// Takes the oldest of all sessions away until there is room for so many bytes.
  void make_room(std::uint64_t bytes);

 private:
  const ResultKeeping rules_;
  const Fill fill_;
  std::vector<KeptResults*> sessions_;
};

}  // namespace cellblock::gateway
