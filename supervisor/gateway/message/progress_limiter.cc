#include "supervisor/gateway/message/progress_limiter.h"

#include <charconv>

namespace cellblock::gateway {

ProgressLimiter::Verdict ProgressLimiter::judge(std::string_view progress, Time now) {
  double value = 0;
  const auto [end, error] =
      std::from_chars(progress.data(), progress.data() + progress.size(), value);
  const bool is_number = error == std::errc{} && end == progress.data() + progress.size();
  if (progress.empty() || !is_number) return Verdict::falls;
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
