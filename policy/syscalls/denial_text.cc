#include "policy/syscalls/denial_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "policy/syscalls/denial_remedy.h"
#include "policy/syscalls/syscall_arguments.h"
#include "policy/syscalls/syscall_numbers.h"
#include "policy/syscalls/syscall_rules.h"

namespace cellblock {
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
  const auto table = call_table(rules, network);
  const CallAnswer* answer = table ? find_call(*table, call) : nullptr;
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
    return {name_of(denied), std::string(unix_sockets_reason), {}};
  }
  return {name_of(denied), reason_of(call, rules, network),
          remedy_for(denied.number, denied.words, rules, network)};
}

}  // namespace cellblock
