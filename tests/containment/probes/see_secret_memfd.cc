// see_secret_memfd NAME VALUE: the descriptor that NAME_FD names holds that value and can be
// neither written, shortened nor unsealed. Says the first that is otherwise.

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include "tests/containment/probes/verdict.h"

namespace {

const char* what_is_wrong(int memfd, const std::string& value) {
  std::array<char, 256> bytes{};
  const ssize_t count = ::pread(memfd, bytes.data(), bytes.size(), 0);
  if (count < 0 || std::string(bytes.data(), static_cast<std::size_t>(count)) != value) {
    return "another value";
  }
  if (::pwrite(memfd, "x", 1, 0) >= 0) return "written";
  if (::ftruncate(memfd, 0) == 0) return "shortened";
  constexpr int expected = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
  if (::fcntl(memfd, F_GET_SEALS) != expected) return "other seals";
  return nullptr;
}

}  // namespace

int main(int, char** argv) {
  const char* number = std::getenv((std::string(argv[1]) + "_FD").c_str());  // NOLINT
  if (number == nullptr) return cellblock::probe::say_refused(ENOENT);
  if (const char* wrong = what_is_wrong(std::atoi(number), argv[2])) {  // NOLINT
    return std::puts(wrong) < 0;
  }
  return cellblock::probe::say(true);
}
