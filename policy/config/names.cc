#include "policy/config/names.h"

#include <algorithm>
#include <cstddef>

#include "policy/config/words.h"

namespace cellblock {
namespace {

constexpr std::size_t longest_name = 63;

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }
bool is_name_letter(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '-'; }

}  // namespace

bool is_short_name(std::string_view name) {
  return !name.empty() && name.size() <= longest_name && is_letter(name.front()) &&
         std::ranges::all_of(name, is_name_letter);
}

std::string_view name_of(PinMode pin) { return word_of(pin); }

std::string_view name_of(ServerEra era) { return word_of(era); }

std::string tcp_address(const HttpListen& http) {
  if (http.address.empty()) return {};
  const bool is_v6 = http.address.contains(':');
  return (is_v6 ? "[" + http.address + "]:" : http.address + ":") + std::to_string(http.port);
}

std::string_view name_of(NetworkMode network) { return word_of(network); }

std::string_view name_of(SyscallProfile profile) { return word_of(profile); }

std::string_view name_of(WriteExec write_exec) { return word_of(write_exec); }

std::string_view name_of(HomeKind home) { return word_of(home); }

std::string_view profile_name(const SyscallRules& rules) {
  return rules.name.empty() ? name_of(rules.base) : std::string_view(rules.name);
}

WriteExec default_write_exec(SyscallProfile base) {
  const bool compiles = base == SyscallProfile::node || base == SyscallProfile::browser;
  return compiles ? WriteExec::allowed : WriteExec::refused;
}

std::string_view run_as_name(const RunAs& run_as) {
  switch (run_as.kind) {
    case RunAsKind::own:
      break;
    case RunAsKind::client:
      return "client";
    case RunAsKind::named:
      return run_as.user;
  }
  return "own";
}

}  // namespace cellblock
