#include "client/cli/commands/call_name.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "client/cli/common/admin_sockets.h"

namespace cellblock::cli {

std::string text_of(const CallName& name) { return fmt::format("{}.{}", name.uid, name.number); }

std::optional<std::uint64_t> call_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = error == std::errc{} && end == text.data() + text.size();
  return is_whole && number != 0 ? std::optional(number) : std::nullopt;
}

std::optional<CallName> call_name(std::string_view text) {
  const auto dot = text.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto uid = uid_of(std::string(text.substr(0, dot)));
  const auto number = call_number(text.substr(dot + 1));
  if (!uid || !number) return std::nullopt;
  return CallName{.uid = *uid, .number = *number};
}

client::Error none_waits(std::string_view id) {
  return {.code = client::ErrorCode::refused,
          .text = fmt::format("no call \"{}\" waits: it was decided, given up, or its time is over",
                              id)};
}

client::Result<CallName> only_one(std::uint64_t number, const std::vector<CallName>& waiting) {
  if (waiting.size() == 1) return waiting.front();
  if (waiting.empty()) return std::unexpected(none_waits(std::to_string(number)));
  std::vector<std::string> names;
  names.reserve(waiting.size());
  for (const CallName& one : waiting) names.push_back(text_of(one));
  return std::unexpected(client::Error{
      .code = client::ErrorCode::invalid_argument,
      .text = fmt::format("calls of {} users have the number {}: say which is meant, {}",
                          waiting.size(), number, fmt::join(names, " or "))});
}

}  // namespace cellblock::cli
