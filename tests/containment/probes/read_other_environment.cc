// read_other_environment TEXT: looks for it in the environment of every process but this one, pid 1
// and the parent included.

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/containment/probes/verdict.h"

namespace {

bool holds(const std::filesystem::path& process, const std::string& text) {
  std::ifstream file(process / "environ", std::ios::binary);
  const std::string environment{std::istreambuf_iterator<char>(file), {}};
  return environment.find(text) != std::string::npos;
}

}  // namespace

int main(int, char** argv) {
  const std::string own = std::to_string(::getpid());
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename();
    if (name == own || name == "self" || name == "thread-self") continue;
    if (holds(entry.path(), argv[1])) return cellblock::probe::say(true);
  }
  if (holds("/proc/1", argv[1])) return cellblock::probe::say(true);
  return cellblock::probe::say_refused(ENOENT);
}
