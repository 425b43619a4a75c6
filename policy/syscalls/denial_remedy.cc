#include "policy/syscalls/denial_remedy.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "policy/config/names.h"
#include "policy/syscalls/significant_arguments.h"
#include "policy/syscalls/syscall_numbers.h"
#include "policy/syscalls/syscall_rules.h"

namespace cellblock {
namespace {

// What an admin can change, as bits of a set.
constexpr unsigned take_back = 1;
constexpr unsigned open_network = 2;
constexpr unsigned allow_code = 4;
constexpr unsigned add_call = 8;

// Smallest first: what opens least is advised.
constexpr unsigned by_size[] = {1, 2, 4, 8, 3, 5, 6, 9, 10, 12, 7, 11, 13, 14, 15};

struct Asked {
  std::string call;
  ArgumentWords words;
  bool words_tell;
};

bool names_call(const std::vector<std::string>& list, const std::string& call) {
  return std::ranges::find(list, call) != list.end();
}

SyscallRules changed(SyscallRules rules, unsigned changes, const std::string& call) {
  if ((changes & take_back) != 0) std::erase(rules.refuse, call);
  if ((changes & allow_code) != 0) rules.write_exec = WriteExec::allowed;
  if ((changes & add_call) != 0) rules.allow.push_back(call);
  return rules;
}

NetworkMode changed(NetworkMode network, unsigned changes) {
  return (changes & open_network) != 0 ? NetworkMode::loopback : network;
}

// Where the words do not tell, only the refusal that is taken back is known to have been the cause.
bool is_allowed(const Asked& asked, const CallAnswer& answer, unsigned changes) {
  if (answer.rules.empty()) return answer.otherwise == 0;
  if (!asked.words_tell) return (changes & take_back) != 0;
  return error_of(answer.rules, answer.otherwise, asked.words) == 0;
}

bool helps(const Asked& asked, unsigned changes, const SyscallRules& rules, NetworkMode network) {
  const auto table = call_table(changed(rules, changes, asked.call), changed(network, changes));
  const CallAnswer* answer = table ? find_call(*table, asked.call) : nullptr;
  return answer != nullptr && is_allowed(asked, *answer, changes);
}

// Taking back comes first: while the call is refused by name nothing else counts.
unsigned possible_changes(const std::string& call, const SyscallRules& rules, NetworkMode network) {
  unsigned changes = names_call(rules.refuse, call) ? take_back : 0U;
  if (network == NetworkMode::none) changes |= open_network;
  if (rules.write_exec == WriteExec::refused) changes |= allow_code;
  if (!names_call(rules.allow, call) && never_allowed_because(call).empty()) changes |= add_call;
  return changes;
}

// A shipped profile cannot be changed, but another one can begin with it.
std::string added(const std::string& call, const SyscallRules& rules) {
  const std::string_view base = name_of(rules.base);
  const std::string_view name = profile_name(rules);
  if (name != base) return fmt::format("[profile.{}] allow = [\"{}\"]", name, call);
  return fmt::format("profile = \"NAME\" with [profile.NAME] base = \"{}\", allow = [\"{}\"]", base,
                     call);
}

std::string text_of(unsigned changes, const Asked& asked, const SyscallRules& rules) {
  std::string text;
  const auto add = [&](unsigned change, const std::string& words) {
    if ((changes & change) != 0) text += (text.empty() ? "" : " and ") + words;
  };
  add(take_back, fmt::format("taking it out of [profile.{}] refuse", rules.name));
  add(add_call, added(asked.call, rules));
  add(allow_code, "write_exec = \"allowed\"");
  add(open_network, "network = \"loopback\", or \"egress\" for what its list names");
  return text;
}

}  // namespace

std::string remedy_for(std::int32_t number, const std::array<std::uint32_t, 3>& words,
                       const SyscallRules& rules, NetworkMode network) {
  const auto name = call_name(number);
  if (!name) return {};
  const Asked asked{std::string(*name), {words[0], words[1], words[2]}, has_telling_words(number)};
  const unsigned possible = possible_changes(asked.call, rules, network);
  // Each change only ever allows more.
  if (!helps(asked, possible, rules, network)) return {};
  for (const unsigned changes : by_size) {
    if ((changes & ~possible) != 0) continue;
    if (helps(asked, changes, rules, network)) return text_of(changes, asked, rules);
  }
  return {};
}

}  // namespace cellblock
