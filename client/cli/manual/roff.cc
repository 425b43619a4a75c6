#include "client/cli/manual/roff.h"

#include <fmt/format.h>

namespace cellblock::cli {

std::string roff(std::string_view text) {
  std::string out;
  bool begins = true;
  for (const char letter : text) {
    if (begins && (letter == '.' || letter == '\'')) out += "\\&";
    if (letter == '\\') {
      out += "\\e";
    } else if (letter == '-') {
      out += "\\-";
    } else {
      out += letter;
    }
    begins = letter == '\n';
  }
  return out;
}

std::string roff_block(std::string_view text) {
  return text.empty() ? std::string() : fmt::format(".PP\n.nf\n{}\n.fi\n", roff(text));
}

}  // namespace cellblock::cli
