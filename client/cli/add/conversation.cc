#include "client/cli/add/conversation.h"

#include <fmt/format.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string_view>

#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {

void tell(const Context& context, const std::string& line) {
  if (context.output == Output::human) fmt::print(stderr, "cellblock: {}\n", line);
}

bool can_ask(const Context& context) {
  return context.output == Output::human && ::isatty(STDIN_FILENO) == 1;
}

bool agrees(const Interruption& interruption, const std::string& question) {
  // What was typed before it was read is no answer to it.
  ::tcflush(STDIN_FILENO, TCIFLUSH);
  fmt::print(stderr, "{} [y/N] ", question);
  static_cast<void>(std::fflush(stderr));
  std::array<pollfd, 2> sources{pollfd{STDIN_FILENO, POLLIN, 0},
                                pollfd{interruption.descriptor(), POLLIN, 0}};
  while (::poll(sources.data(), sources.size(), -1) < 0) continue;
  if (sources[1].revents != 0) return false;
  std::array<char, 64> line{};
  const auto count = ::read(STDIN_FILENO, line.data(), line.size());
  const std::string_view said(line.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
  return said == "y\n" || said == "Y\n" || said == "yes\n";
}

}  // namespace cellblock::cli
