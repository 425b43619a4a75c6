#include "policy/config_check/credential_name.h"

#include <algorithm>
#include <cstddef>

namespace cellblock {
namespace {

constexpr std::size_t longest_name = 255;

bool is_allowed(char letter) {
  return letter >= ' ' && letter <= '~' && letter != '/' && letter != ':';
}

}  // namespace

std::optional<std::string> credential_problem(std::string_view name) {
  if (name.empty()) return "is empty";
  if (name == "." || name == "..") return "is a directory's name";
  if (name.size() > longest_name) return "is too long";
  if (!std::ranges::all_of(name, is_allowed)) {
    return "has \"/\", \":\", a control character or more than ASCII in it";
  }
  return std::nullopt;
}

}  // namespace cellblock
