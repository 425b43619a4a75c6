// see_process NAME: looks for a process of that name in /proc.

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/containment/probes/verdict.h"

int main(int, char** argv) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    std::string name;
    std::getline(std::ifstream(entry.path() / "comm"), name);
    if (name == argv[1]) return cellblock::probe::say(true);
  }
  return cellblock::probe::say_refused(ENOENT);
}
