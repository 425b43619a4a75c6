// fill_directory PATH BYTES: one file of that size; and removes it again.

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/containment/probes/verdict.h"

namespace {

bool fill(int file, long bytes) {
  const std::vector<char> block(65'536, 'x');
  while (bytes > 0) {
    const ssize_t written = ::write(file, block.data(), block.size());
    if (written <= 0) return false;
    bytes -= written;
  }
  return true;
}

}  // namespace

int main(int, char** argv) {
  const std::string path = std::string(argv[1]) + "/cellblock-probe";
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (file < 0) return cellblock::probe::say(false);
  const bool filled = fill(file, std::atol(argv[2]));
  const int error = errno;
  ::unlink(path.c_str());
  errno = error;
  return cellblock::probe::say(filled);
}
