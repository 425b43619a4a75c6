#pragma once

#include <cstdint>
#include <optional>
#include <set>

/// Ids for cellblock's own processes: theirs only while they live, since they own no files. Pure.
namespace cellblock::launcher {

class IdPool {
 public:
  IdPool(std::uint32_t first, std::uint32_t count) : first_(first), count_(count) {}

  /// The lowest that nobody has; nullopt when all are taken. A pool of one (rootless without
  /// subordinate ids) gives its one id to everybody.
  std::optional<std::uint32_t> take() {
    if (count_ == 1) return first_;
    std::uint32_t id = first_;
    for (const std::uint32_t taken : taken_) {
      if (taken != id) break;
      ++id;
    }
    if (id - first_ >= count_) return std::nullopt;
    taken_.insert(id);
    return id;
  }
  void give_back(std::uint32_t id) { taken_.erase(id); }

 private:
  std::uint32_t first_;
  std::uint32_t count_;
  std::set<std::uint32_t> taken_;
};

}  // namespace cellblock::launcher
