#include "policy/access/name_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include "policy/access/resource_uri.h"
#include "policy/base/printable.h"

namespace cellblock {
namespace {

constexpr std::size_t longest_pattern = 128;
constexpr std::size_t longest_uri = 2048;
constexpr std::array<std::string_view, 3> features{"roots", "sampling", "elicitation"};

bool is_tool_letter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '/' || c == '-';
}

bool is_tool_name(std::string_view name) {
  return name.size() <= longest_pattern && std::ranges::all_of(name, is_tool_letter);
}

// Servers give prompts and resources any names; what a person cannot read cannot be judged either.
bool is_readable(std::string_view name, std::size_t longest) {
  return name.size() <= longest && name.find('*') == std::string_view::npos &&
         printable(name) == name;
}

bool is_feature(std::string_view name) {
  return name.empty() || std::ranges::find(features, name) != features.end();
}

struct Naming {
  std::string_view key;
  bool (*is_good)(std::string_view name);
  std::string_view noun;
  std::string_view allowed;
};

constexpr std::array<Naming, 4> namings{{
    {"tools", is_tool_name, "tool name",
     "at most 128 of A-Z a-z 0-9 _ . / -, with or without one * at the end"},
    {"resources", [](std::string_view name) { return is_readable(name, longest_uri); }, "URI",
     "a scheme and at most 2048 printable bytes, with or without one * at the end, which nothing "
     "may stand before that can be read in two ways (.., %2F, %5C)"},
    {"prompts", [](std::string_view name) { return is_readable(name, longest_pattern); },
     "prompt's name", "at most 128 printable bytes, with or without one * at the end"},
    {"features", is_feature, "feature", R"("roots", "sampling", "elicitation" or "*")"},
}};

std::optional<NamePattern> parse(std::string_view text, const Naming& naming) {
  const bool is_prefix = text.ends_with('*');
  const std::string_view name = is_prefix ? text.substr(0, text.size() - 1) : text;
  if ((name.empty() && !is_prefix) || !naming.is_good(name)) return std::nullopt;
  if (naming.key != "resources") return NamePattern{std::string(name), is_prefix};
  if (is_prefix && !read_uri_beginning(name).is_clear) return std::nullopt;
  return uri_pattern(name, is_prefix);
}

const Naming& naming_of(NameKind kind) { return namings.at(static_cast<std::size_t>(kind)); }

}  // namespace

Result<NamePattern> read_name_pattern(NameKind kind, std::string_view text) {
  const Naming& naming = naming_of(kind);
  if (auto pattern = parse(text, naming)) return *std::move(pattern);
  return fail(fmt::format("\"{}\" is no {}; allowed: {}", text, naming.noun, naming.allowed));
}

std::string_view key_of(NameKind kind) { return naming_of(kind).key; }

}  // namespace cellblock
