#include "policy/failures/verdict.h"

#include <array>
#include <cstddef>

namespace cellblock {
namespace {

constexpr std::array<std::string_view, verdict_count> verdict_names = {
    "ordinary_exit", "never_ran",         "early_crash",   "crash",          "killed_by_filter",
    "stopped",       "handshake_timeout", "closed_stdout", "too_much_noise", "closed_stdin",
    "unread_stdin",  "egress_ended",      "out_of_memory", "idle",           "unresponsive",
    "evicted",       "foreign_framing",
};

}  // namespace

std::string_view name_of(Verdict verdict) {
  const auto index = static_cast<std::size_t>(verdict);
  return index < verdict_names.size() ? verdict_names[index] : "unknown";
}

bool is_on_purpose(std::string_view verdict) {
  return verdict == name_of(Verdict::stopped) || verdict == name_of(Verdict::idle) ||
         verdict == name_of(Verdict::evicted);
}

bool is_crash(std::string_view verdict) {
  return !is_on_purpose(verdict) && verdict != name_of(Verdict::ordinary_exit);
}

}  // namespace cellblock
