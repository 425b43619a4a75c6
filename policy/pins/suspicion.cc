#include "policy/pins/suspicion.h"

#include <re2/re2.h>

#include <charconv>

#include "policy/base/hidden_characters.h"
#include "policy/base/printable.h"

namespace cellblock {
namespace {

constexpr std::size_t longest_quote = 120;

// In canonical JSON a backslash is two.
constexpr std::string_view canonical_escape = R"(\\u{)";

// A blank stands for any number of blanks and line ends, as canonical JSON writes them.
constexpr std::string_view instructions =
    R"re((?i)</?(?:important|system|secret|hidden|instructions?|assistant|critical)>)re"
    R"re(|<\|[a-z_]{1,24}\|>)re"
    R"re(|\b(?:ignore|disregard|forget|override) (?:(?:all|any|the|your|of) ){0,3})re"
    R"re((?:previous|prior|earlier|above|preceding) (?:instruction|prompt|rule|message))re"
    R"re(|\b(?:do not|don't|never|must not|without) )re"
    R"re((?:tell|mention|inform|notify|reveal|alert|warn|show)(?:ing)? )re"
    R"re((?:(?:this|it|that|anything|about) )?(?:to )?the user)re"
    R"re(|\b(?:hide|conceal|keep) (?:this|it|that) (?:secret |hidden )?from the user)re"
    R"re(|/\.ssh/|\bid_(?:rsa|ed25519|ecdsa)\b|\.aws/credentials|\.cursor/mcp\.json)re";

std::string with_blanks(std::string_view pattern) {
  std::string text;
  for (const char c : pattern) {
    if (c == ' ') {
      text += R"((?:\s|\\[nrt])+)";
    } else {
      text += c;
    }
  }
  return text;
}

const RE2& instruction_pattern() {
  static const RE2 pattern(with_blanks(instructions), RE2::Quiet);
  return pattern;
}

bool is_hidden_escape(std::string_view after) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(after.data(), after.data() + after.size(), value, 16);
  if (error != std::errc{} || end == after.data() + after.size() || *end != '}') return false;
  return value < 0x20 || value == 0x7F || is_hidden(static_cast<char32_t>(value));
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

// As a name of its own, not as the end of another.
bool has_name(std::string_view text, const std::string& name) {
  for (auto at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    if (at == 0 || !is_letter(text[at - 1])) return true;
  }
  return false;
}

}  // namespace

std::optional<std::string> hidden_character_in(std::string_view definition) {
  for (auto at = definition.find(canonical_escape); at != std::string_view::npos;
       at = definition.find(canonical_escape, at + 1)) {
    const std::string_view after = definition.substr(at + canonical_escape.size());
    if (!is_hidden_escape(after)) continue;
    return "U+" + std::string(after.substr(0, after.find('}')));
  }
  return std::nullopt;
}

std::optional<std::string> instruction_in(std::string_view definition) {
  re2::StringPiece found;
  const re2::StringPiece text(definition.data(), definition.size());
  if (!instruction_pattern().Match(text, 0, text.size(), RE2::UNANCHORED, &found, 1)) {
    return std::nullopt;
  }
  return printable({found.data(), found.size()}, longest_quote);
}

std::optional<std::string_view> shadowed_server(std::string_view definition,
                                                std::span<const std::string> other_servers) {
  if (definition.find("__") == std::string_view::npos) return std::nullopt;
  for (const std::string& server : other_servers) {
    if (has_name(definition, server + "__")) return server;
  }
  return std::nullopt;
}

}  // namespace cellblock
