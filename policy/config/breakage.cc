#include "policy/config/breakage.h"

#include <fmt/format.h>

namespace cellblock {

std::string text_of(const Breakage& breakage) {
  std::string text = breakage.cause;
  if (breakage.line > 0) {
    text += fmt::format(" ({}:{})", breakage.file, breakage.line);
  } else if (!breakage.file.empty()) {
    text += fmt::format(" ({})", breakage.file);
  }
  if (breakage.more > 0) text += fmt::format("; and {} more: cellblock check", breakage.more);
  return text;
}

}  // namespace cellblock
