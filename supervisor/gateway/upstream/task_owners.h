#pragma once

#include <cstddef>
#include <list>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

namespace cellblock::gateway {

/// Which tool's call made a task, as the answers to such calls say. A server chooses the ids in
/// them: of one that two tools claim nobody knows whose it is. Apart from the names of tasks, of
/// which there may be new ones without a call: here the host has to ask for each one. The oldest
/// fall out.
class TaskOwners {
 public:
  static constexpr std::size_t most = 1'024;
  static constexpr std::size_t max_bytes = 512U << 10;  ///< of ids and tools together

  TaskOwners() = default;
  TaskOwners(TaskOwners&&) = default;
  TaskOwners& operator=(TaskOwners&&) = delete;

  /// A call of that tool was answered with a task, an id in the server's raw JSON.
  void claim(std::string_view raw, std::string_view tool);
  /// Whose calls made these; empty: not known, or of several tools.
  std::string_view tool_of(std::span<const std::string_view> raw) const;

  std::size_t bytes() const { return bytes_; }

 private:
  struct Claim {
    std::string raw;
    std::string tool;  ///< empty: of several
    std::size_t bytes() const { return raw.size() + tool.size(); }
  };
  using Claims = std::list<Claim>;  ///< nodes stay where they are: by_id_ looks into them

  void remove_oldest();

  Claims claims_;  ///< the oldest first
  std::unordered_map<std::string_view, Claims::iterator> by_id_;
  std::size_t bytes_ = 0;
};

}  // namespace cellblock::gateway
