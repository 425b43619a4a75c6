#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace cellblock {

/// The keys of the objects that are open at this point of a scan, one stack for all of them. Finds
/// duplicates by sorting, not by hashing, so that no choice of keys makes it slow.
class OpenKeys {
 public:
  using Mark = std::size_t;

  void clear();

  Mark open() const { return keys_.size(); }
  /// `key` is unescaped and stays valid until its object is closed.
  void add(std::string_view key) { keys_.push_back(key); }
  /// Forgets the keys since `mark` and says whether they were all different.
  bool close_distinct(Mark mark);

 private:
  std::vector<std::string_view> keys_;
};

}  // namespace cellblock
