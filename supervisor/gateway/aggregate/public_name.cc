#include "supervisor/gateway/aggregate/public_name.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "policy/encoding/hex.h"
#include "policy/encoding/sha256.h"

namespace cellblock::gateway {
namespace {

constexpr std::string_view between = "__";
constexpr std::size_t digest_digits = 20;
constexpr std::size_t stem_room = max_public_name - digest_digits - 1;
constexpr std::size_t server_room = 28;  // of that, so that something of the tool is left

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }
bool is_accepted(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '-';
}

/// A length before each part would do as well: what counts is that no two pairs are one text, and
/// no server's name has a NUL.
std::string digest_of(std::string_view server, std::string_view original) {
  std::string both(server);
  both.push_back('\0');
  both += original;
  const Sha256 digest = sha256(both);
  return hex_text(std::span(digest).first<digest_digits / 2>());
}

std::string short_name(std::string_view server, std::string_view original) {
  std::string name(server.substr(0, server_room));
  name += between;
  const std::string_view stem = original.substr(0, stem_room - name.size());
  std::ranges::transform(stem, std::back_inserter(name),
                         [](char c) { return is_accepted(c) ? c : '_'; });
  return name + "_" + digest_of(server, original);
}

}  // namespace

bool is_short_form(std::string_view shown) {
  if (shown.size() <= digest_digits) return false;
  const std::string_view end = shown.substr(shown.size() - digest_digits - 1);
  return end.front() == '_' && std::ranges::all_of(end.substr(1), is_hex);
}

std::string public_name(std::string_view server, std::string_view original) {
  std::string plain(server);
  plain.append(between).append(original);
  return split_plain_name(plain) ? plain : short_name(server, original);
}

std::optional<NameParts> split_plain_name(std::string_view shown) {
  const std::size_t end = shown.find('_');
  if (end == std::string_view::npos || end == 0 || shown.size() > max_public_name) {
    return std::nullopt;
  }
  const std::string_view rest = shown.substr(end);
  if (!rest.starts_with(between) || rest.size() == between.size()) return std::nullopt;
  if (!std::ranges::all_of(shown, is_accepted) || is_short_form(shown)) return std::nullopt;
  return NameParts{shown.substr(0, end), rest.substr(between.size())};
}

std::vector<Replacement> show_task_ids(std::string_view line, const Message& message,
                                       std::string_view server) {
  std::vector<Replacement> edits;
  for (const Span span : message.task_ids) {
    const std::string id = text_from(span.in(line));
    if (!id.empty()) edits.push_back({span, json_string(std::string(server) + "." + id)});
  }
  return edits;
}

std::optional<TaskRoute> find_task(const Members& members, std::string_view raw) {
  const std::string shown = text_from(raw);
  const std::size_t end = shown.find('.');
  if (end == std::string::npos) return std::nullopt;
  const auto server = members.find(std::string_view(shown).substr(0, end));
  if (!server) return std::nullopt;
  return TaskRoute{*server, shown.substr(end + 1)};
}

}  // namespace cellblock::gateway
