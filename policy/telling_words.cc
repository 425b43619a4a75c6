#include "policy/telling_words.h"

#include <sys/syscall.h>

#include <algorithm>

#include "policy/syscall_arguments.h"

namespace cellblock {
namespace {

constexpr std::uint32_t whole = 0xffff'ffff;

struct Telling {
  std::int32_t number;
  std::array<std::uint32_t, 3> masks;
};

constexpr Telling telling[] = {
    {SYS_socket, {whole, ~std::uint32_t{SOCK_CLOEXEC | SOCK_NONBLOCK}, whole}},
    {SYS_socketpair, {whole, 0, 0}},
    {SYS_ioctl, {0, whole, 0}},
    {SYS_prctl, {whole, 0, 0}},
    {SYS_personality, {whole, 0, 0}},
    {SYS_clone, {argument_rules::new_namespace, 0, 0}},
    {SYS_unshare, {whole, 0, 0}},
    {SYS_mmap, {0, 0, whole}},
    {SYS_mprotect, {0, 0, whole}},
    {SYS_pkey_mprotect, {0, 0, whole}},
};

}  // namespace

std::array<std::uint32_t, 3> telling_words(std::int32_t number, const ArgumentWords& words) {
  const auto* found = std::ranges::find(telling, number, &Telling::number);
  if (found == std::end(telling)) return {};
  return {words[0] & found->masks[0], words[1] & found->masks[1], words[2] & found->masks[2]};
}

}  // namespace cellblock
