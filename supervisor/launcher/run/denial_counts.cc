#include "supervisor/launcher/run/denial_counts.h"

#include <limits>

namespace cellblock::launcher {
namespace {

bool alike(const wire::Denial& one, const wire::Denial& other) {
  return one.syscall_number == other.syscall_number && one.error == other.error &&
         one.words == other.words;
}

void count_up(std::uint32_t& count, std::uint32_t more) {
  const std::uint32_t room = std::numeric_limits<std::uint32_t>::max() - count;
  count += std::min(room, more);
}

}  // namespace

void DenialCounts::add(const wire::Denial& denial) {
  const auto same = [](const wire::Denial& what) {
    return [&what](const wire::Denial& waiting) { return alike(waiting, what); };
  };
  auto found = std::ranges::find_if(waiting_, same(denial));
  if (found != waiting_.end()) return count_up(found->count, denial.count);
  if (waiting_.size() < most_kinds - 1) return waiting_.push_back(denial);
  const wire::Denial nameless{.count = denial.count};
  found = std::ranges::find_if(waiting_, same(nameless));
  if (found != waiting_.end()) return count_up(found->count, denial.count);
  waiting_.push_back(nameless);
}

std::optional<wire::Denial> DenialCounts::due(std::chrono::milliseconds now) {
  if (waiting_.empty() || !records_.take(now)) return std::nullopt;
  return next();
}

std::optional<wire::Denial> DenialCounts::next() {
  if (waiting_.empty()) return std::nullopt;
  const wire::Denial first = waiting_.front();
  waiting_.erase(waiting_.begin());
  return first;
}

}  // namespace cellblock::launcher
