#include "policy/flows/text_views.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "policy/json/json_text.h"

namespace cellblock {
namespace {

constexpr std::size_t shortest_encoded = 16;  // characters
constexpr std::size_t shortest_decoded = 8;   // bytes
constexpr std::size_t mime_line = 60;         // a line break in a run of base64 comes no earlier
constexpr std::uint8_t no_digit = 0xff;

using DigitTable = std::array<std::uint8_t, 256>;

constexpr DigitTable make_hex_digits() {
  DigitTable table{};
  table.fill(no_digit);
  for (std::uint8_t i = 0; i < 10; ++i) table.at('0' + i) = i;
  for (std::uint8_t i = 0; i < 6; ++i) {
    table.at('a' + i) = table.at('A' + i) = static_cast<std::uint8_t>(10 + i);
  }
  return table;
}

// Both alphabets of RFC 4648.
constexpr DigitTable make_base64_digits() {
  DigitTable table{};
  table.fill(no_digit);
  for (std::uint8_t i = 0; i < 26; ++i) {
    table.at('A' + i) = i;
    table.at('a' + i) = static_cast<std::uint8_t>(26 + i);
  }
  for (std::uint8_t i = 0; i < 10; ++i) table.at('0' + i) = static_cast<std::uint8_t>(52 + i);
  table.at('+') = table.at('-') = 62;
  table.at('/') = table.at('_') = 63;
  return table;
}

constexpr DigitTable hex_digits = make_hex_digits();
constexpr DigitTable base64_digits = make_base64_digits();

std::uint8_t digit_of(const DigitTable& table, char c) {
  return table.at(static_cast<unsigned char>(c));
}

bool is_encoding(char c) { return digit_of(base64_digits, c) != no_digit; }

bool is_line_end(char c) { return c == '\n' || c == '\r'; }

// Tells a decoded text from the noise that decoding an unencoded text gives.
bool is_text(std::string_view bytes) {
  if (bytes.size() < shortest_decoded) return false;
  std::size_t printable_bytes = 0;
  std::size_t high_bytes = 0;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_space = c == '\n' || c == '\r' || c == '\t';
    printable_bytes += (byte >= 0x20 && byte < 0x7f) || is_space ? 1U : 0U;
    high_bytes += byte >= 0x80 ? 1U : 0U;
  }
  const std::size_t controls = bytes.size() - printable_bytes - high_bytes;
  return printable_bytes * 4 >= bytes.size() * 3 ||
         (controls == 0 && high_bytes * 8 >= bytes.size() * 7);
}

std::string percent_decoded(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_escape = text[i] == '%' && i + 2 < text.size() &&
                           digit_of(hex_digits, text[i + 1]) != no_digit &&
                           digit_of(hex_digits, text[i + 2]) != no_digit;
    if (!is_escape) {
      bytes += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    bytes += static_cast<char>(digit_of(hex_digits, text[i + 1]) * 16 +
                               digit_of(hex_digits, text[i + 2]));
    i += 2;
  }
  return bytes;
}

std::string hex_decoded(std::string_view run) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < run.size(); i += 2) {
    bytes +=
        static_cast<char>(digit_of(hex_digits, run[i]) * 16 + digit_of(hex_digits, run[i + 1]));
  }
  return bytes;
}

std::string base64_decoded(std::string_view run) {
  std::string bytes;
  std::uint32_t held = 0;
  unsigned bits = 0;
  for (const char c : run) {
    held = held << 6U | digit_of(base64_digits, c);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(held >> bits & 0xffU);
  }
  return bytes;
}

// A run of base64 without the line breaks of MIME.
struct Run {
  std::size_t end = 0;  ///< in the text
  std::string digits;
};

Run run_at(std::string_view text, std::size_t begin) {
  Run run{.end = begin};
  std::size_t line = 0;
  for (; run.end < text.size(); ++run.end) {
    const char c = text[run.end];
    if (is_encoding(c)) {
      run.digits += c;
      ++line;
    } else if (is_line_end(c) && (line >= mime_line || line == 0) && !run.digits.empty()) {
      line = 0;
    } else {
      break;
    }
  }
  return run;
}

class Views {
 public:
  Views(LongRuns runs, const TextVisitor& visit) : runs_(runs), visit_(visit) {}

  void see(std::string_view text, unsigned depth) {
    see_shortened(text);
    if (depth == 0) return;
    if (text.contains('%')) see(percent_decoded(text), depth - 1);
    for (std::size_t at = 0; at < text.size();) {
      if (!is_encoding(text[at])) {
        ++at;
        continue;
      }
      const Run run = run_at(text, at);
      at = run.end;
      if (run.digits.size() >= shortest_encoded) see_run(run.digits, depth);
    }
  }

 private:
  void see_run(std::string_view digits, unsigned depth) {
    const bool is_hex =
        std::ranges::all_of(digits, [](char c) { return digit_of(hex_digits, c) != no_digit; });
    if (is_hex) {
      for (const std::size_t skipped : {0U, 1U}) {
        see_decoded(hex_decoded(digits.substr(skipped)), depth);
      }
    }
    // A letter in front of the run shifts the rest.
    for (std::size_t skipped = 0; skipped < 4; ++skipped) {
      see_decoded(base64_decoded(digits.substr(skipped)), depth);
    }
  }
  void see_decoded(const std::string& bytes, unsigned depth) {
    if (is_text(bytes)) see(bytes, depth - 1);
  }

  void see_shortened(std::string_view text) {
    if (runs_ == LongRuns::whole) return visit_(text);
    std::string kept;
    std::size_t copied = 0;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t begin = at;
      while (at < text.size() && is_encoding(text[at])) ++at;
      if (at - begin > longest_run) {
        kept += text.substr(copied, begin + kept_run_end - copied);
        kept += ' ';
        copied = at - kept_run_end;
      }
      if (at == begin) ++at;
    }
    if (copied == 0) return visit_(text);
    kept += text.substr(copied);
    visit_(kept);
  }

  LongRuns runs_;
  const TextVisitor& visit_;
};

/// The end of the string that begins there; in invalid text, the end of the text.
std::size_t string_end(std::string_view json, std::size_t begin) {
  for (std::size_t at = begin + 1; at < json.size(); ++at) {
    if (json[at] == '\\') {
      ++at;
    } else if (json[at] == '"') {
      return at + 1;
    }
  }
  return json.size();
}

bool is_scalar_byte(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-' || c == '+' || c == '.' ||
         c == 'E';
}

bool is_name(std::string_view json, std::size_t end) {
  const std::size_t next = json.find_first_not_of(" \t\r\n", end);
  return next != std::string_view::npos && json[next] == ':';
}

}  // namespace

void for_each_text(std::string_view json, LongRuns runs, const TextVisitor& visit) {
  Views views(runs, visit);
  for (std::size_t at = 0; at < json.size();) {
    const std::size_t begin = at;
    if (json[at] == '"') {
      at = string_end(json, at);
      views.see(decoded(json.substr(begin, at - begin)), deepest_encoding);
      continue;
    }
    while (at < json.size() && is_scalar_byte(json[at])) ++at;
    if (at - begin >= shortest_decoded) visit(json.substr(begin, at - begin));
    if (at == begin) ++at;
  }
}

std::string joined_strings(std::string_view json) {
  std::string joined;
  for (std::size_t at = json.find('"'); at < json.size(); at = json.find('"', at)) {
    const std::size_t end = string_end(json, at);
    if (!is_name(json, end)) joined += decoded(json.substr(at, end - at)) + ' ';
    at = end;
  }
  return joined;
}

}  // namespace cellblock
