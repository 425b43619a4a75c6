#include "client/cli/install/npm_credentials.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "client/cli/terminal/terminal_text.h"
#include "policy/base/trimmed.h"

namespace cellblock::cli {
namespace {

constexpr std::array<std::string_view, 4> credential_ends = {":_authToken", ":_auth", ":username",
                                                             ":_password"};

std::string_view without_quotes(std::string_view text) {
  const bool is_quoted = text.size() > 1 && text.front() == text.back() &&
                         (text.front() == '"' || text.front() == '\'');
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

std::string with_variables(std::string_view text, const LookUpVariable& look_up) {
  std::string result;
  std::size_t at = 0;
  for (auto begin = text.find("${"); begin != std::string_view::npos; begin = text.find("${", at)) {
    const auto end = text.find('}', begin);
    if (end == std::string_view::npos) break;
    const std::string name(text.substr(begin + 2, end - begin - 2));
    const auto value = look_up(name);
    result += text.substr(at, begin - at);
    result += value.empty() ? std::string(text.substr(begin, end + 1 - begin)) : value;
    at = end + 1;
  }
  return result + std::string(text.substr(at));
}

// As npm compares them: "https://host/npm" is "//host/npm/".
std::string place_of(const std::string& registry) {
  const auto begin = std::min(registry.find("//"), registry.size());
  auto place = registry.substr(begin, registry.find_first_of("?#", begin) - begin);
  if (!place.ends_with('/')) place += '/';
  return place;
}

// "//host/npm" of "//host/npm/:_authToken"; empty: it is no credential.
std::string_view place_in(std::string_view key) {
  for (const auto end : credential_ends) {
    if (!key.starts_with("//") || !key.ends_with(end)) continue;
    key.remove_suffix(end.size());
    while (key.size() > 2 && key.ends_with('/')) key.remove_suffix(1);
    return key.size() > 2 ? key : std::string_view();
  }
  return {};
}

// A host's token is for all that is below it.
bool is_for(std::string_view place, const std::string& registry) {
  const auto whole = place_of(registry);
  return !place.empty() && whole.starts_with(place) && whole[place.size()] == '/';
}

bool is_plain_credential(std::string_view text) {
  constexpr std::string_view marks = "-._~+/=:@!*";
  return !text.empty() && std::ranges::all_of(text, [marks](char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || marks.contains(byte);
  });
}

bool is_scope(std::string_view key) {
  return key.starts_with('@') && key.ends_with(":registry") && key.find(' ') == std::string::npos;
}

}  // namespace

std::vector<NpmrcEntry> read_npmrc(std::string_view text, const LookUpVariable& look_up) {
  std::vector<NpmrcEntry> entries;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    const auto line = trimmed(text.substr(at, end - at));
    at = end + 1;
    const auto equals = line.find('=');
    const bool is_comment = line.starts_with(';') || line.starts_with('#');
    if (is_comment || equals == std::string_view::npos) continue;
    const auto key = trimmed(line.substr(0, equals));
    const auto value = without_quotes(trimmed(line.substr(equals + 1)));
    entries.push_back(
        {.key = with_variables(key, look_up), .value = with_variables(value, look_up)});
  }
  return entries;
}

std::string scope_lines(const std::vector<NpmrcEntry>& entries) {
  std::string lines;
  for (const auto& entry : entries) {
    const bool is_usable = is_scope(entry.key) && is_plain_credential(entry.value) &&
                           entry.value.find('@') == std::string::npos;
    if (is_usable) lines += fmt::format("{}={}\n", entry.key, entry.value);
  }
  return lines;
}

Result<std::string> credential_lines(const std::vector<NpmrcEntry>& entries,
                                     const std::string& registry) {
  std::string lines;
  for (const auto& entry : entries) {
    if (!is_for(place_in(entry.key), registry)) continue;
    if (entry.value.starts_with("${") && entry.value.ends_with('}')) {
      return fail(fmt::format(
          "{} in .npmrc is {}, and your environment has no such variable: set it, then try again",
          safe_line(entry.key), safe_line(entry.value)));
    }
    if (!is_plain_credential(entry.value)) {
      return fail(
          fmt::format("{} in .npmrc has characters that no token has", safe_line(entry.key)));
    }
    lines += fmt::format("{}={}\n", entry.key, entry.value);
  }
  return lines;
}

}  // namespace cellblock::cli
