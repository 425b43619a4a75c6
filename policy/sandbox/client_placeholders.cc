#include "policy/sandbox/client_placeholders.h"

#include <algorithm>

#include "policy/base/utf8.h"

namespace cellblock {
namespace {

constexpr std::string_view opening = "${";
constexpr std::string_view escaped = "$${";
constexpr std::string_view user_placeholder = "${client.user}";
constexpr std::string_view uid_placeholder = "${client.uid}";
constexpr std::size_t longest_quoted = 64;

/// The next piece of `rest`: an escape, a placeholder of ours, "${" of none, or one character.
std::string_view next_piece(std::string_view rest) {
  for (const std::string_view known : {escaped, user_placeholder, uid_placeholder, opening}) {
    if (rest.starts_with(known)) return rest.substr(0, known.size());
  }
  return rest.substr(0, 1);
}

template <class Take>
void for_each_piece(std::string_view text, Take take) {
  while (!text.empty()) {
    const std::string_view piece = next_piece(text);
    take(piece, text);
    text.remove_prefix(piece.size());
  }
}

bool is_space_or_control(char32_t c) { return c <= 0x20 || (c >= 0x7f && c <= 0xa0); }

}  // namespace

bool is_user_name(std::string_view name) {
  if (name.empty() || name.size() > max_user_name) return false;
  while (!name.empty()) {
    const CodePoint point = first_code_point(name);
    if (point.length == 0 || is_space_or_control(point.value)) return false;
    name.remove_prefix(point.length);
  }
  return true;
}

std::optional<std::string> unknown_placeholder(std::string_view text) {
  std::optional<std::string> unknown;
  for_each_piece(text, [&](std::string_view piece, std::string_view rest) {
    if (piece != opening || unknown) return;
    const std::size_t end = std::min(rest.find('}'), longest_quoted);
    unknown = std::string(rest.substr(0, end)) + (end < rest.size() && rest[end] == '}' ? "}" : "");
  });
  return unknown;
}

bool needs_user_name(std::string_view text) {
  bool needs = false;
  for_each_piece(text, [&](std::string_view piece, std::string_view /*rest*/) {
    needs = needs || piece == user_placeholder;
  });
  return needs;
}

std::string fill_in(std::string_view text, const ClientNames& client) {
  std::string filled;
  for_each_piece(text, [&](std::string_view piece, std::string_view /*rest*/) {
    if (piece == user_placeholder) {
      filled += client.user;
    } else if (piece == uid_placeholder) {
      filled += std::to_string(client.uid);
    } else {
      filled += piece == escaped ? opening : piece;
    }
  });
  return filled;
}

}  // namespace cellblock
