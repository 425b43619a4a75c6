#include "policy/pins/suspicion.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <utility>

#include "policy/base/chat_tokens.h"
#include "policy/base/printable.h"

namespace cellblock {
namespace {

// Letters of Cyrillic, Greek, Armenian and of Latin's own extensions that fonts draw as a Latin
// one (Unicode's confusables.txt has thousands more, most of which no font draws alike).
constexpr std::array<std::pair<char32_t, char>, 92> twins{{
    {0x0131, 'i'}, {0x0251, 'a'}, {0x0261, 'g'}, {0x026A, 'i'}, {0x0280, 'r'}, {0x0391, 'a'},
    {0x0392, 'b'}, {0x0395, 'e'}, {0x0396, 'z'}, {0x0397, 'h'}, {0x0399, 'i'}, {0x039A, 'k'},
    {0x039C, 'm'}, {0x039D, 'n'}, {0x039F, 'o'}, {0x03A1, 'p'}, {0x03A4, 't'}, {0x03A5, 'y'},
    {0x03A7, 'x'}, {0x03B1, 'a'}, {0x03B9, 'i'}, {0x03BA, 'k'}, {0x03BD, 'v'}, {0x03BF, 'o'},
    {0x03C1, 'p'}, {0x03C5, 'u'}, {0x03C7, 'x'}, {0x03F2, 'c'}, {0x03F3, 'j'}, {0x0405, 's'},
    {0x0406, 'i'}, {0x0408, 'j'}, {0x0410, 'a'}, {0x0412, 'b'}, {0x0415, 'e'}, {0x041A, 'k'},
    {0x041C, 'm'}, {0x041D, 'h'}, {0x041E, 'o'}, {0x0420, 'p'}, {0x0421, 'c'}, {0x0422, 't'},
    {0x0423, 'y'}, {0x0425, 'x'}, {0x0430, 'a'}, {0x0433, 'r'}, {0x0435, 'e'}, {0x043A, 'k'},
    {0x043C, 'm'}, {0x043D, 'h'}, {0x043E, 'o'}, {0x0440, 'p'}, {0x0441, 'c'}, {0x0442, 't'},
    {0x0443, 'y'}, {0x0445, 'x'}, {0x0455, 's'}, {0x0456, 'i'}, {0x0458, 'j'}, {0x04AE, 'y'},
    {0x04AF, 'y'}, {0x04BA, 'h'}, {0x04BB, 'h'}, {0x04C0, 'l'}, {0x04CF, 'l'}, {0x0500, 'd'},
    {0x0501, 'd'}, {0x051A, 'q'}, {0x051B, 'q'}, {0x051C, 'w'}, {0x051D, 'w'}, {0x0561, 'w'},
    {0x0563, 'q'}, {0x0566, 'q'}, {0x0570, 'h'}, {0x0578, 'n'}, {0x057C, 'n'}, {0x057D, 'u'},
    {0x0581, 'g'}, {0x0582, 'i'}, {0x0584, 'f'}, {0x0585, 'o'}, {0x1D00, 'a'}, {0x1D04, 'c'},
    {0x1D05, 'd'}, {0x1D07, 'e'}, {0x1D0A, 'j'}, {0x1D0B, 'k'}, {0x1D0D, 'm'}, {0x1D0F, 'o'},
    {0x1D1B, 't'}, {0x1D1C, 'u'},
}};
static_assert(std::ranges::is_sorted(twins, {}, &std::pair<char32_t, char>::first));

// Latin letters with marks, by the first of each run.
constexpr std::array<std::pair<char32_t, char>, 46> marked{{
    {0xC0, 'a'},  {0xC7, 'c'},  {0xC8, 'e'},  {0xCC, 'i'},  {0xD0, 'd'},  {0xD1, 'n'},
    {0xD2, 'o'},  {0xD7, 'x'},  {0xD8, 'o'},  {0xD9, 'u'},  {0xDD, 'y'},  {0xDE, 'p'},
    {0xDF, 'b'},  {0xE0, 'a'},  {0xE7, 'c'},  {0xE8, 'e'},  {0xEC, 'i'},  {0xF0, 'd'},
    {0xF1, 'n'},  {0xF2, 'o'},  {0xF7, '/'},  {0xF8, 'o'},  {0xF9, 'u'},  {0xFD, 'y'},
    {0xFE, 'p'},  {0xFF, 'y'},  {0x100, 'a'}, {0x106, 'c'}, {0x10E, 'd'}, {0x112, 'e'},
    {0x11C, 'g'}, {0x124, 'h'}, {0x128, 'i'}, {0x134, 'j'}, {0x136, 'k'}, {0x139, 'l'},
    {0x143, 'n'}, {0x14C, 'o'}, {0x154, 'r'}, {0x15A, 's'}, {0x162, 't'}, {0x168, 'u'},
    {0x174, 'w'}, {0x176, 'y'}, {0x179, 'z'}, {0x17F, 's'},
}};
constexpr char32_t last_marked = 0x17F;

constexpr char32_t wide_first = 0xFF01;  // !, and so on in ASCII's order
constexpr char32_t wide_last = 0xFF5E;
constexpr char32_t letters_first = 0x1D400;  // mathematical: bold, italic, script ...
constexpr char32_t letters_last = 0x1D6A3;
constexpr char32_t math_digits_first = 0x1D7CE;
constexpr char32_t math_digits_last = 0x1D7FF;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
char lowered(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// nullopt: it has no twin.
std::optional<char> twin_of(char32_t value) {
  if (value < 0x80) return static_cast<char>(value);
  if (value >= wide_first && value <= wide_last) return static_cast<char>(value - wide_first + '!');
  if (value >= letters_first && value <= letters_last) {
    const auto place = (value - letters_first) % 52;
    return static_cast<char>(place < 26 ? 'a' + place : 'a' + place - 26);
  }
  if (value >= math_digits_first && value <= math_digits_last) {
    return static_cast<char>('0' + (value - math_digits_first) % 10);
  }
  if (value >= marked.front().first && value <= last_marked) {
    const auto past =
        std::ranges::upper_bound(marked, value, {}, &std::pair<char32_t, char>::first);
    return std::prev(past)->second;
  }
  const auto found = std::ranges::lower_bound(twins, value, {}, &std::pair<char32_t, char>::first);
  if (found == twins.end() || found->first != value) return std::nullopt;
  return found->second;
}

// What only goes on top of a letter: of `e` and a mark, and of `é`, the fold is one.
bool is_mark(char32_t value) { return value >= 0x300 && value <= 0x36F; }

bool is_separator(char32_t value) {
  constexpr std::string_view ascii = "_-./: \t";
  if (value < 0x80) return ascii.find(static_cast<char>(value)) != std::string_view::npos;
  const bool is_dash = (value >= 0x2010 && value <= 0x2015) || value == 0x2212 || value == 0x2E3A;
  const bool is_blank = value == 0xA0 || value == 0x3000 || (value >= 0x2000 && value <= 0x200A);
  return is_dash || is_blank || value == 0x2024 || value == 0x00B7 || value == 0x30FB;
}

// Without case and script; separators are '_', and of several one.
std::string simplified(std::string_view name) {
  std::string text;
  while (!name.empty()) {
    const CodePoint point = first_code_point(name);
    const std::size_t length = std::max<std::size_t>(point.length, 1);
    const std::optional<char> twin = point.length == 0 ? std::nullopt : twin_of(point.value);
    if (point.length != 0 && (is_separator(point.value) || (twin && is_separator(*twin)))) {
      if (!text.empty() && text.back() != '_') text += '_';
    } else if (twin) {
      text += lowered(*twin);
    } else if (point.length == 0 || !(is_hidden(point.value) || is_mark(point.value))) {
      text += name.substr(0, length);
    }
    name.remove_prefix(length);
  }
  return text;
}

char letter_for(char c) { return c == '1' || c == '|' ? 'l' : c == '0' ? 'o' : c == 'i' ? 'l' : c; }

}  // namespace

bool is_ascii(std::string_view name) {
  return std::ranges::all_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

std::string folded(std::string_view name) {
  const std::string text = simplified(name);
  const bool is_short = text.size() < 4;  // `l` and `i` may well be two
  std::string fold;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool after_digit = i > 0 && is_digit(text[i - 1]);
    const bool before_digit = i + 1 < text.size() && is_digit(text[i + 1]);
    if (text[i] == '_') {
      if (after_digit && before_digit) fold += '_';
      continue;
    }
    const bool is_in_number = is_digit(text[i]) && (after_digit || before_digit);
    fold += is_in_number || is_short ? text[i] : letter_for(text[i]);
  }
  return fold;
}

namespace {

constexpr std::size_t longest_quote = 120;

// In canonical JSON a backslash is two.
constexpr std::string_view canonical_escape = R"(\\u{)";

// A blank stands for any number of blanks and line ends, as canonical JSON writes them.
constexpr std::string_view instructions =
    R"re((?i)</?(?:important|system|secret|hidden|instructions?|assistant|critical)>)re"
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
    const auto token = first_chat_token(definition);
    return token ? std::optional(printable(*token, longest_quote)) : std::nullopt;
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
