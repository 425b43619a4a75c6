#include "client/cli/terminal/log_text.h"

#include <fmt/format.h>

#include "client/cli/terminal/json_text.h"
#include "client/cli/terminal/terminal_text.h"
#include "client/cli/terminal/unit_text.h"
#include "policy/base/server_set.h"

namespace cellblock::cli {

std::string log_line_text(std::string_view server, const Json& line) {
  return fmt::format("{} {} cell {}: {}", moment_text(number_of(line, "at_ms")),
                     server_tag(safe_line(server)), text_of(line, "cell"), text_of(line, "text"));
}

std::optional<LogPage> read_log_page(std::string_view answer) {
  const auto json = Json::parse(answer, nullptr, false);
  if (!json.is_object() || !json.contains("lines")) return std::nullopt;
  const Json next = json.value("next", Json());
  if (!next.is_number_unsigned()) return std::nullopt;
  const Json missed = json.value("missed", Json());
  return LogPage{.lines = objects_of(json, "lines"),
                 .next = next.get<std::uint64_t>(),
                 .missed = missed.is_number_unsigned() ? missed.get<std::uint64_t>() : 0};
}

}  // namespace cellblock::cli
