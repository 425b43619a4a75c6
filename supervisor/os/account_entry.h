#pragma once

#include <cerrno>
#include <cstddef>
#include <utility>
#include <vector>

namespace cellblock {

/// Returns `take(entry)` of an entry of the account database; a default value if there is none.
/// `look_up` is called with a larger buffer until the entry fits: a group may have many members.
template <class Entry, class LookUp, class Take>
auto with_entry(LookUp look_up, Take take) -> decltype(take(std::declval<const Entry&>())) {
  constexpr std::size_t first_buffer = 4096;
  constexpr std::size_t longest_buffer = 1U << 20;
  for (std::size_t size = first_buffer; size <= longest_buffer; size *= 2) {
    std::vector<char> buffer(size);
    Entry entry{};
    Entry* found = nullptr;
    const int error = look_up(&entry, buffer.data(), buffer.size(), &found);
    if (error == ERANGE) continue;
    if (error == 0 && found != nullptr) return take(*found);
    break;
  }
  return {};
}

}  // namespace cellblock
