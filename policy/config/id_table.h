#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "policy/base/result.h"
#include "policy/config/config.h"

/// The host ids of pairs of server and user. An id is never given to another pair, so files in a
/// state directory keep their owner across restarts. Pure; the launcher keeps the table on disk
/// (state_directory.h), and the reader of the configuration reads it there.
namespace cellblock {

/// How many of the range, from its first, are servers' for good; the rest are borrowed by
/// cellblock's own processes.
std::uint32_t server_ids(const Identity& identity);

class IdTable {
 public:
  IdTable(std::uint32_t first, std::uint32_t count) : first_(first), count_(count) {}

  enum class Standing : std::uint8_t {
    assigned,  ///< before
    free,      ///< the next one; assign() makes it this pair's, once that is on disk
  };
  struct Id {
    std::uint32_t id = 0;
    Standing standing = Standing::free;
  };

  /// The pair's id, or the one that it may have; nullopt when the range is used up. In a range of
  /// one (rootless without subordinate ids) every pair has that one id.
  std::optional<Id> find(std::string_view server, std::uint32_t user) const;
  void assign(std::string_view server, std::uint32_t user, std::uint32_t id);

  /// Whether the id is in the range and has no owner.
  bool is_free(std::uint32_t id) const;

  /// "SERVER USER ID\n"
  static std::string format(std::string_view server, std::uint32_t user, std::uint32_t id);

  /// Takes up what format() wrote earlier. Every line must be well-formed, inside the range and
  /// unique: two servers under one id would be one server.
  Result<void> restore(std::string_view lines);

 private:
  using Key = std::pair<std::string, std::uint32_t>;
  Result<void> restore_line(std::string_view line);

  std::uint32_t first_;
  std::uint32_t count_;
  std::map<Key, std::uint32_t> ids_;
  std::set<std::uint32_t> given_;
  std::uint32_t next_ = 0;  ///< offset of the lowest id that was never handed out
};

}  // namespace cellblock
