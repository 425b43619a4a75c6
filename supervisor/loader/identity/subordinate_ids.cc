#include "supervisor/loader/identity/subordinate_ids.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace cellblock::daemon {
namespace {

std::optional<std::uint32_t> number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string_view cut(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view head = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return head;
}

// The last id, 2^32-1, means "no id" to the kernel.
bool is_sound(const IdRange& range) {
  return range.first > 0 && range.count > 0 &&
         range.count <= std::numeric_limits<std::uint32_t>::max() - range.first;
}

IdRange overlap(const IdRange& a, const IdRange& b) {
  const std::uint32_t first = std::max(a.first, b.first);
  const std::uint32_t end = std::min(a.first + a.count, b.first + b.count);
  return {first, end > first ? end - first : 0};
}

}  // namespace

std::vector<IdRange> subordinate_ranges(std::string_view text, std::uint32_t uid,
                                        std::string_view name) {
  std::vector<IdRange> ranges;
  while (!text.empty()) {
    std::string_view line = cut(text, '\n');
    const std::string_view owner = cut(line, ':');
    const auto first = number(cut(line, ':'));
    const auto count = number(line);
    const bool mine = owner == name || number(owner) == uid;
    if (!mine || owner.empty() || !first || !count) continue;
    if (const IdRange range{*first, *count}; is_sound(range)) ranges.push_back(range);
  }
  return ranges;
}

std::optional<IdRange> common_range(std::span<const IdRange> uids, std::span<const IdRange> gids,
                                    std::uint32_t least, std::uint32_t limit) {
  IdRange best;
  for (const IdRange& uid_range : uids) {
    for (const IdRange& gid_range : gids) {
      const IdRange common = overlap(uid_range, gid_range);
      if (common.count > best.count) best = common;
    }
  }
  if (best.count < least) return std::nullopt;
  return IdRange{best.first, std::min(best.count, limit)};
}

// One that is set-uid acts as root, who did not make the user namespace: the kernel wants
// CAP_SYS_ADMIN of it, which containers withhold. One with a file capability acts as its caller; an
// exec that would get none of it fails.
bool can_write_maps(const MapHelper& helper) {
  if (helper.gains_nothing) return false;
  if (helper.has_file_capability) return helper.may_have_capability;
  return helper.is_set_uid && helper.root_may_administer;
}

}  // namespace cellblock::daemon
