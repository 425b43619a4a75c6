#include "policy/results/bounded_error.h"

#include <fmt/format.h>

#include <algorithm>

#include "policy/json/json_text.h"
#include "policy/json/raw_json.h"
#include "policy/mcp/meta_keys.h"

namespace cellblock {
namespace {

/// What models see of an error in the hosts of today, about.
constexpr std::size_t longest_message = 10'000;

std::string cut(std::string_view raw, std::size_t most) {
  if (!is_raw_string(raw)) return R"("")";
  if (decoded_size(raw) <= most) return std::string(raw);
  const Ends ends = ends_of(raw, most * 3 / 5, most - most * 3 / 5);
  return json_quoted(fmt::format("{}\n\n[cellblock left out {} of {} bytes here.]\n\n{}", ends.head,
                                 ends.total - ends.head.size() - ends.tail.size(), ends.total,
                                 ends.tail));
}

}  // namespace

std::optional<std::string> bounded_error(std::string_view error, const ResultBounds& bounds) {
  if (error.size() <= bounds.max_bytes) return std::nullopt;
  const auto members = raw_members(error);
  if (!members) {
    return fmt::format(
        R"({{"code":-32603,"message":"[cellblock left out an error that is no object.]",)"
        R"("data":{{"{}":{{"bytes":{}}}}}}})",
        mcp::meta_key::bounded, error.size());
  }
  const RawMember* code = find_member(*members, "code");
  const RawMember* message = find_member(*members, "message");
  const std::size_t most = std::min<std::size_t>(longest_message, bounds.max_bytes / 2);
  const bool has_code = code != nullptr && code->value.size() <= most;
  return fmt::format(R"({{"code":{},"message":{},"data":{{"{}":{{"bytes":{}}}}}}})",
                     has_code ? code->value : "-32603",
                     message == nullptr ? R"("")" : cut(message->value, most),
                     mcp::meta_key::bounded, error.size());
}

}  // namespace cellblock
