// see_secret_file NAME VALUE: the file that NAME_FILE names has that value, is for its owner alone,
// and can be neither changed, removed nor joined by another. Says the first that is otherwise.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/containment/probes/verdict.h"

namespace {

const char* what_is_wrong(const std::string& path, const std::string& value) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text != value) return "another value";
  struct stat status{};
  if (::stat(path.c_str(), &status) < 0 || (status.st_mode & 0777) != 0400) return "another mode";
  if (status.st_uid != ::getuid()) return "another owner";
  if (::open(path.c_str(), O_WRONLY) >= 0) return "opened for writing";
  if (::chmod(path.c_str(), 0600) == 0) return "mode changed";
  if (::unlink(path.c_str()) == 0) return "removed";
  if (::open((path + "2").c_str(), O_WRONLY | O_CREAT, 0600) >= 0) return "another made";
  return nullptr;
}

}  // namespace

int main(int, char** argv) {
  const char* path = std::getenv((std::string(argv[1]) + "_FILE").c_str());  // NOLINT
  if (path == nullptr) return cellblock::probe::say_refused(ENOENT);
  if (const char* wrong = what_is_wrong(path, argv[2])) return std::puts(wrong) < 0;
  return cellblock::probe::say(true);
}
