#include "client/cli/terminal/style.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

namespace cellblock::cli {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
  return value == nullptr ? std::string_view() : std::string_view(value);
}

std::string_view sequence(Colour colour) {
  switch (colour) {
    case Colour::good:
      return "\033[32m";
    case Colour::bad:
      return "\033[31m";
    case Colour::weak:
      return "\033[33m";
    case Colour::plain:
      break;
  }
  return {};
}

}  // namespace

Style Style::for_stdout() {
  const bool wanted = environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  return Style(wanted && ::isatty(STDOUT_FILENO) == 1);
}

std::string Style::paint(Colour colour, std::string_view text) const {
  if (!on_ || colour == Colour::plain) return std::string(text);
  return fmt::format("{}{}\033[0m", sequence(colour), text);
}

}  // namespace cellblock::cli
