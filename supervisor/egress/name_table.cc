#include "supervisor/egress/name_table.h"

namespace cellblock::egress {
namespace {

// The first address of the range is no host's, the second is the resolver's.
constexpr std::uint32_t first_host = 2;

InternetAddress host_in(InternetAddress base, std::uint32_t number) {
  for (std::size_t i = base.size(); number != 0; number >>= 8) {
    base.at(--i) |= static_cast<std::uint8_t>(number);
  }
  return base;
}

std::uint32_t low_word(const InternetAddress& address) {
  std::uint32_t word = 0;
  for (std::size_t i = 12; i < 16; ++i) word = (word << 8) | address.at(i);
  return word;
}

}  // namespace

SyntheticPair NameTable::pair(std::uint32_t index) const {
  return {host_in(range_.ipv4, index + first_host), host_in(range_.ipv6, index + first_host)};
}

std::optional<SyntheticPair> NameTable::addresses_of(const std::string& name) {
  const auto known = indices_.find(name);
  if (known != indices_.end()) return pair(known->second);
  if (names_.size() >= max_names) return std::nullopt;
  const auto index = static_cast<std::uint32_t>(names_.size());
  names_.push_back(&indices_.emplace(name, index).first->first);
  return pair(index);
}

bool NameTable::is_synthetic(const InternetAddress& address) const { return range_.has(address); }

const std::string* NameTable::name_of(const InternetAddress& address) const {
  for (const InternetAddress& base : {range_.ipv4, range_.ipv6}) {
    const std::uint32_t index = low_word(address) - low_word(base) - first_host;
    if (index < names_.size() && host_in(base, index + first_host) == address) {
      return names_[index];
    }
  }
  return nullptr;
}

}  // namespace cellblock::egress
