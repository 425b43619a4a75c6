#include "supervisor/gateway/progress_pace.h"

#include <charconv>

namespace cellblock::gateway {

ProgressPace::Verdict ProgressPace::judge(std::string_view progress, Time now) {
  double value = 0;
  const char* const end = progress.data() + progress.size();
  const auto read = std::from_chars(progress.data(), end, value);
  if (progress.empty() || read.ec != std::errc{} || read.ptr != end) return Verdict::falls;
  if (last_ && value <= *last_) return Verdict::falls;
  last_ = value;
  if (!since_ || now - *since_ >= interval) {
    since_ = now;
    passed_ = 0;
  }
  if (passed_ == most) return Verdict::keep;
  ++passed_;
  kept_.reset();
  return Verdict::pass;
}

}  // namespace cellblock::gateway
