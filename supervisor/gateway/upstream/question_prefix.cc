#include "supervisor/gateway/upstream/question_prefix.h"

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace cellblock::gateway {

void say_who_asks(std::string_view line, const Message& message, std::string_view server,
                  std::vector<Replacement>& edits) {
  const std::string prefix = fmt::format("[server {}] ", server);  // no character needs an escape
  for (const Span& question : message.questions) {
    const std::uint32_t begin = question.begin + 1;  // after the quote
    if (!line.substr(begin).starts_with(prefix)) edits.push_back({{begin, begin}, prefix});
  }
}

}  // namespace cellblock::gateway
