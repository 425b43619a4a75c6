#include "policy/syscalls/denial_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "policy/config/names.h"
#include "policy/syscalls/syscall_arguments.h"
#include "policy/syscalls/syscall_numbers.h"
#include "policy/syscalls/syscall_rules.h"
#include "policy/syscalls/syscall_table.h"

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
bool is_allowed(const Asked& asked, const SyscallAnswer& answer, unsigned changes) {
  if (answer.rules.empty()) return answer.otherwise == 0;
  if (!asked.words_tell) return (changes & take_back) != 0;
  return error_of(answer.rules, answer.otherwise, asked.words) == 0;
}

bool helps(const Asked& asked, unsigned changes, const SyscallRules& rules, NetworkMode network) {
  const auto table = syscall_table(changed(rules, changes, asked.call), changed(network, changes));
  const SyscallAnswer* answer = table ? find_syscall(*table, asked.call) : nullptr;
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
  const Asked asked{std::string(*name), {words[0], words[1], words[2]}, has_reported_words(number)};
  const unsigned possible = possible_changes(asked.call, rules, network);
  // Each change only ever allows more.
  if (!helps(asked, possible, rules, network)) return {};
  for (const unsigned changes : by_size) {
    if ((changes & ~possible) != 0) continue;
    if (helps(asked, changes, rules, network)) return text_of(changes, asked, rules);
  }
  return {};
}

namespace {

struct Word {
  std::uint32_t value;
  std::string_view name;
};

constexpr Word families[] = {
    {AF_UNIX, "AF_UNIX"},       {AF_INET, "AF_INET"},     {AF_INET6, "AF_INET6"},
    {AF_NETLINK, "AF_NETLINK"}, {AF_PACKET, "AF_PACKET"}, {AF_VSOCK, "AF_VSOCK"},
    {AF_ALG, "AF_ALG"},         {AF_XDP, "AF_XDP"},       {AF_BLUETOOTH, "AF_BLUETOOTH"},
    {AF_CAN, "AF_CAN"},         {AF_TIPC, "AF_TIPC"},     {AF_RDS, "AF_RDS"},
    {AF_KCM, "AF_KCM"},         {AF_NFC, "AF_NFC"},       {AF_QIPCRTR, "AF_QIPCRTR"}};
constexpr Word requests[] = {{TIOCSTI, "TIOCSTI"},
                             {TIOCLINUX, "TIOCLINUX"},
                             {TIOCSCTTY, "TIOCSCTTY"},
                             {TIOCSETD, "TIOCSETD"}};
constexpr Word options[] = {{PR_SET_MM, "PR_SET_MM"},
                            {PR_SET_SECUREBITS, "PR_SET_SECUREBITS"},
                            {PR_CAPBSET_DROP, "PR_CAPBSET_DROP"},
                            {PR_SET_KEEPCAPS, "PR_SET_KEEPCAPS"},
                            {PR_SET_PTRACER, "PR_SET_PTRACER"}};
constexpr Word namespaces[] = {{CLONE_NEWUSER, "CLONE_NEWUSER"},    {CLONE_NEWNS, "CLONE_NEWNS"},
                               {CLONE_NEWPID, "CLONE_NEWPID"},      {CLONE_NEWNET, "CLONE_NEWNET"},
                               {CLONE_NEWIPC, "CLONE_NEWIPC"},      {CLONE_NEWUTS, "CLONE_NEWUTS"},
                               {CLONE_NEWCGROUP, "CLONE_NEWCGROUP"}};
constexpr Word protections[] = {
    {PROT_READ, "PROT_READ"}, {PROT_WRITE, "PROT_WRITE"}, {PROT_EXEC, "PROT_EXEC"}};

std::string word_of(std::span<const Word> words, std::uint32_t value) {
  const auto found = std::ranges::find(words, value, &Word::value);
  return found == words.end() ? fmt::format("{:#x}", value) : std::string(found->name);
}

std::string bits_of(std::span<const Word> words, std::uint32_t bits) {
  std::string text;
  for (const Word& word : words) {
    if ((bits & word.value) == 0) continue;
    text += text.empty() ? "" : "|";
    text += word.name;
    bits &= ~word.value;
  }
  if (bits != 0) text += fmt::format("{}{:#x}", text.empty() ? "" : "|", bits);
  return text;
}

bool is_internet(std::uint32_t family) { return family == AF_INET || family == AF_INET6; }

// Type and protocol only where the family alone would have been allowed.
std::string socket_words(const DeniedCall& denied) {
  const auto [family, type, protocol] = denied.words;
  std::string text = word_of(families, family);
  const bool by_type = family == AF_NETLINK || (is_internet(family) && denied.error != EACCES);
  if (by_type) text += fmt::format(", {}, {}", type, protocol);
  return text;
}

std::string pair_words(const DeniedCall& denied) {
  const auto [family, type, protocol] = denied.words;
  if (family != AF_UNIX) return word_of(families, family);
  return fmt::format("AF_UNIX, {}, {}", type, protocol);
}

std::string words_of(std::string_view call, const DeniedCall& denied) {
  if (call == "socket") return socket_words(denied);
  if (call == "socketpair") return pair_words(denied);
  if (call == "shmat") return denied.words[2] != 0 ? "SHM_EXEC" : "";
  if (call == "ioctl") return word_of(requests, denied.words[1]);
  if (call == "prctl") return word_of(options, denied.words[0]);
  if (call == "clone" || call == "unshare") return bits_of(namespaces, denied.words[0]);
  if (call == "personality") return fmt::format("{:#x}", denied.words[0]);
  if (call == "mmap" || call == "mprotect" || call == "pkey_mprotect") {
    return bits_of(protections, denied.words[2]);
  }
  return {};
}

std::string call_of(const DeniedCall& denied) {
  const auto name = call_name(denied.number);
  return name ? std::string(*name) : fmt::format("system call {}", denied.number);
}

// The C library looks for nscd in each program that asks for a user or a name.
constexpr std::string_view unix_sockets_reason =
    "no Unix sockets in a cell; the C library asks nscd for names of users so, and goes on "
    "without: "
    "harmless; only browsers need profile = \"browser\"";

bool is_unix_socket(std::string_view call, const DeniedCall& denied) {
  return call == "socket" && denied.words[0] == AF_UNIX;
}

std::string reason_of(const std::string& call, const SyscallRules& rules, NetworkMode network) {
  const auto table = syscall_table(rules, network);
  const SyscallAnswer* answer = table ? find_syscall(*table, call) : nullptr;
  if (answer == nullptr) return "in no group of the profile";
  return fmt::format("{}: {}", answer->group, answer->reason);
}

}  // namespace

std::string name_of(const DeniedCall& denied) {
  if (denied.number < 0) return "other calls";
  const std::string call = call_of(denied);
  const std::string words = words_of(call, denied);
  return words.empty() ? call : fmt::format("{}({})", call, words);
}

DenialText describe(const DeniedCall& denied, const SyscallRules& rules, NetworkMode network) {
  if (denied.number < 0) {
    return {name_of(denied), "of too many kinds to be counted one by one", {}};
  }
  const std::string call = call_of(denied);
  if (is_unix_socket(call, denied) && rules.base != SyscallProfile::browser) {
    return {name_of(denied), std::string(unix_sockets_reason), {}, true};
  }
  return {name_of(denied), reason_of(call, rules, network),
          remedy_for(denied.number, denied.words, rules, network)};
}

}  // namespace cellblock
