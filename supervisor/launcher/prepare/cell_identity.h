#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "policy/config/config.h"

/// The ids of a cell for the host's kernel. Pure.
namespace cellblock::launcher {

/// Ids for cellblock's own processes, which own no files: each is free again when its process has
/// ended. Pure.
class IdPool {
 public:
  IdPool(std::uint32_t first, std::uint32_t count) : first_(first), count_(count) {}

  /// The lowest free id; nullopt when all are taken. A pool of one (rootless without subordinate
  /// ids) gives its one id to every caller.
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

struct HostIds {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  bool operator==(const HostIds&) const = default;
};

/// The ids for RunAsKind::client and named; nullopt: the launcher has no id map for that user.
/// Never root.
std::optional<HostIds> declared_identity(const RunAs& run_as, std::uint32_t user,
                                         const std::vector<ClientId>& clients);

}  // namespace cellblock::launcher
