// A small native MCP server over stdio: what comes in goes back out. It answers everything that one
// read brought with one write, so that a pipeline of calls is not slowed down by system calls here.

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>

#include "examples/echo_server/reply.h"

namespace {

bool write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) return false;
    if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

/// Answers the whole lines in `pending` and leaves the unfinished one there.
bool answer_lines(std::string& pending) {
  std::string replies;
  std::size_t begin = 0;
  for (std::size_t end = pending.find('\n'); end != std::string::npos;
       end = pending.find('\n', begin)) {
    echo_server::append_reply(std::string_view(pending).substr(begin, end - begin), replies);
    begin = end + 1;
  }
  pending.erase(0, begin);
  return write_all(replies);
}

}  // namespace

int main() {
  static char buffer[256 * 1024];
  std::string pending;
  while (true) {
    const ssize_t count = ::read(STDIN_FILENO, buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    pending.append(buffer, static_cast<std::size_t>(count));
    if (!answer_lines(pending)) return EXIT_FAILURE;
  }
}
