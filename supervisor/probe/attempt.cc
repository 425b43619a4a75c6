#include "supervisor/probe/attempt.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace cellblock::probe {
namespace {

Outcome make(OutcomeKind kind, int error, std::string_view detail) {
  Outcome outcome{.kind = kind, .error = error};
  // One less than its size: the rest stays zero and ends it.
  const std::size_t length = std::min(detail.size(), outcome.text.size() - 1);
  std::copy_n(detail.begin(), length, outcome.text.begin());
  return outcome;
}

}  // namespace

Outcome opened(std::string_view detail) { return make(OutcomeKind::open, 0, detail); }

Outcome held(int error, std::string_view detail) { return make(OutcomeKind::held, error, detail); }

Outcome held(std::string_view detail) { return make(OutcomeKind::held, 0, detail); }

Outcome not_applicable(std::string_view why) { return make(OutcomeKind::not_applicable, 0, why); }

Outcome unclear(std::string_view why) { return make(OutcomeKind::unclear, 0, why); }

Outcome not_begun(std::string_view lacking) { return make(OutcomeKind::unclear, errno, lacking); }

Outcome from_call(long result) { return result < 0 ? held(errno) : opened(); }

Outcome from_harmless_call(long result) {
  const int error = result < 0 ? errno : 0;
  if (error == EPERM || error == EACCES || error == ENOSYS || error == EROFS) return held(error);
  return opened(error == 0 ? std::string_view{}
                           : "the right was there: the arguments were refused");
}

}  // namespace cellblock::probe
