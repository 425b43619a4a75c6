#include "policy/mcp/trace_context.h"

namespace cellblock {
namespace {

constexpr std::string_view hexadecimal = "0123456789abcdef";

bool is_hexadecimal(std::string_view text) {
  return text.find_first_not_of(hexadecimal) == std::string_view::npos;
}

bool names_something(std::string_view id) {
  return is_hexadecimal(id) && id.find_first_not_of('0') != std::string_view::npos;
}

}  // namespace

bool is_traceparent(std::string_view text) {
  if (text.size() != traceparent_size || text[2] != '-' || text[35] != '-' || text[52] != '-') {
    return false;
  }
  const std::string_view version = text.substr(0, 2);
  return is_hexadecimal(version) && version != "ff" && names_something(text.substr(3, 32)) &&
         names_something(text.substr(36, 16)) && is_hexadecimal(text.substr(53));
}

// What has an escape in it has no such length.
std::string_view traceparent_in(std::string_view json) {
  if (json.size() != traceparent_size + 2) return {};
  const std::string_view text = json.substr(1, traceparent_size);
  return is_traceparent(text) ? text : std::string_view{};
}

}  // namespace cellblock
