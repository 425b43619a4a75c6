// see_home_file PATH VALUE: the file has that value, is alone in its directory, and can be neither
// written, changed, replaced nor removed. Says the first that is otherwise.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/containment/probes/verdict.h"

namespace {

bool is_alone(const std::filesystem::path& path) {
  std::size_t others = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path.parent_path())) {
    others += entry.path() != path ? 1 : 0;
  }
  return others == 0;
}

const char* what_is_wrong(const std::string& path, const std::string& value) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text != value) return "another value";
  if (!is_alone(path)) return "others beside it";
  if (::open(path.c_str(), O_WRONLY) >= 0 || errno != EROFS) return "opened for writing";
  if (::chmod(path.c_str(), 0600) == 0) return "mode changed";
  if (::rename(path.c_str(), (path + "2").c_str()) == 0) return "renamed";
  if (::unlink(path.c_str()) == 0) return "removed";
  return nullptr;
}

}  // namespace

int main(int, char** argv) {
  if (::access(argv[1], F_OK) < 0) return cellblock::probe::say(false);
  if (const char* wrong = what_is_wrong(argv[1], argv[2])) return std::puts(wrong) < 0;
  return cellblock::probe::say(true);
}
