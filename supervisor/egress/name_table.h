#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/egress/synthetic_range.h"

namespace cellblock::egress {

struct SyntheticPair {
  InternetAddress ipv4;
  InternetAddress ipv6;
};

/// Which name has which address, for the life of one cell. An address is never given to a second
/// name: a server may keep one for as long as it likes.
class NameTable {
 public:
  static constexpr std::size_t max_names = 4096;

  explicit NameTable(const SyntheticRange& range = {}) : range_(range) {}

  /// Those of `name`, which gets its own the first time; none when the table is full.
  std::optional<SyntheticPair> addresses_of(const std::string& name);

  bool is_synthetic(const InternetAddress& address) const;
  /// Null if no name has this address.
  const std::string* name_of(const InternetAddress& address) const;

 private:
  SyntheticPair pair(std::uint32_t index) const;

  SyntheticRange range_;
  std::map<std::string, std::uint32_t, std::less<>> indices_;
  std::vector<const std::string*> names_;  ///< keys of indices_, which do not move
};

}  // namespace cellblock::egress
