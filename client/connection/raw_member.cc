#include "client/connection/raw_member.h"

#include <fmt/format.h>

#include "policy/json/raw_json.h"

namespace cellblock::client {
namespace {

constexpr std::string_view white_space = " \t\r\n";

std::unexpected<Error> unusable(std::string text) {
  return std::unexpected(Error{.code = ErrorCode::invalid_argument, .text = std::move(text)});
}

}  // namespace

std::string_view raw_member(std::string_view object, std::string_view key) {
  const auto members = raw_members(object);
  const auto* const found = members ? find_member(*members, key) : nullptr;
  return found == nullptr ? std::string_view() : found->value;
}

std::string with_first_member(std::string_view text, std::size_t brace, std::string_view member) {
  const auto next = text.find_first_not_of(white_space, brace + 1);
  const auto* const comma = text.substr(next).starts_with('}') ? "" : ",";
  return fmt::format("{}{}{}{}", text.substr(0, brace + 1), member, comma, text.substr(brace + 1));
}

Result<std::string> with_progress_token(std::string_view object, std::uint64_t token) {
  const auto brace = object.find_first_not_of(white_space);
  if (brace == std::string_view::npos || object[brace] != '{') return unusable("not a JSON object");
  const auto member = fmt::format(R"("progressToken":{})", token);
  const auto meta = raw_member(object, "_meta");
  if (meta.empty()) return with_first_member(object, brace, R"("_meta":{)" + member + "}");
  if (!meta.starts_with('{')) return unusable("_meta is a JSON object");
  if (!raw_member(meta, "progressToken").empty()) {
    return unusable("_meta.progressToken is the library's own where progress is wanted");
  }
  return with_first_member(object, static_cast<std::size_t>(meta.data() - object.data()), member);
}

}  // namespace cellblock::client
