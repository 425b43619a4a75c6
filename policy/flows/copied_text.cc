#include "policy/flows/copied_text.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <string>
#include <utility>

#include "policy/flows/text_views.h"

namespace cellblock {
namespace {

constexpr std::uint64_t passage_base = 0x9e37'79b9'7f4a'7c15;
constexpr std::uint64_t word_seed = 0x517c'c1b7'2722'0a95;
constexpr std::size_t shortest_word = 8;
constexpr std::size_t shortest_plain_word = 24;  // without a digit or sign
constexpr std::size_t longest_word = 512;        // a longer one counts with its beginning
constexpr std::size_t fewest_digits = 9;         // of a number: a date has fewer
constexpr std::size_t first_slots = 1024;
constexpr std::size_t most_probes = 32;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_high(char c) { return (static_cast<unsigned char>(c) & 0x80U) != 0; }

char folded(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Spreads what a sum of products leaves in the high bits. Never 0.
std::uint64_t mixed(std::uint64_t hash) {
  hash ^= hash >> 33U;
  hash *= 0xff51'afd7'ed55'8ccd;
  hash ^= hash >> 33U;
  return hash | 1U;
}

/// Characters of UTF-8 from `first` to `last`, which have the same number of bytes.
struct CharacterRange {
  std::string_view first;
  std::string_view last;
};

bool begins_in(std::string_view text, const CharacterRange& range) {
  const std::string_view character = text.substr(0, range.first.size());
  return character.size() == range.first.size() && character >= range.first &&
         character <= range.last;
}

// Soft hyphen, combining marks, zero width and directions, variation selectors, tags.
constexpr std::array invisible_characters{CharacterRange{"\xc2\xad", "\xc2\xad"},
                                          CharacterRange{"\xcc\x80", "\xcd\xaf"},
                                          CharacterRange{"\xe1\xa0\x8b", "\xe1\xa0\x8f"},
                                          CharacterRange{"\xe2\x80\x8b", "\xe2\x80\x8f"},
                                          CharacterRange{"\xe2\x80\xaa", "\xe2\x80\xae"},
                                          CharacterRange{"\xe2\x81\xa0", "\xe2\x81\xaf"},
                                          CharacterRange{"\xef\xb8\x80", "\xef\xb8\x8f"},
                                          CharacterRange{"\xef\xbb\xbf", "\xef\xbb\xbf"},
                                          CharacterRange{"\xf3\xa0\x80\x80", "\xf3\xa0\x87\xaf"}};
// "\u2010" to "\u2015", and the minus.
constexpr std::array dashes{CharacterRange{"\xe2\x80\x90", "\xe2\x80\x95"},
                            CharacterRange{"\xe2\x88\x92", "\xe2\x88\x92"}};
// No-break space and the signs of Latin 1, general punctuation, CJK punctuation.
constexpr std::array spaces_and_punctuation{
    CharacterRange{"\xc2\xa0", "\xc2\xbf"}, CharacterRange{"\xe1\x9a\x80", "\xe1\x9a\x80"},
    CharacterRange{"\xe2\x80\x80", "\xe2\x81\x9f"}, CharacterRange{"\xe3\x80\x80", "\xe3\x80\xbf"}};
// Of ASCII's characters those as wide as a Chinese one.
constexpr std::array wide_characters{CharacterRange{"\xef\xbc\x81", "\xef\xbc\xbf"},
                                     CharacterRange{"\xef\xbd\x80", "\xef\xbd\x9e"}};

template <std::size_t count>
const CharacterRange* range_at(std::string_view text,
                               const std::array<CharacterRange, count>& ranges) {
  const auto found = std::ranges::find_if(
      ranges, [text](const CharacterRange& range) { return begins_in(text, range); });
  return found == ranges.end() ? nullptr : &*found;
}

char narrow(std::string_view wide) {
  constexpr int first = 0x81 - '!';
  constexpr int later = 0x80 - '`';
  const int last_byte = static_cast<unsigned char>(wide[2]);
  return static_cast<char>(last_byte - (wide[1] == '\xbc' ? first : later));
}

/// What a character that is not ASCII stands for, if it is no letter of its own.
struct StandIn {
  std::size_t size = 0;  ///< in bytes of the text; 0: it stands for itself
  std::string text;
};

StandIn stand_in_at(std::string_view text) {
  if (const auto* range = range_at(text, invisible_characters)) return {range->first.size(), ""};
  if (const auto* range = range_at(text, dashes)) return {range->first.size(), "-"};
  if (const auto* range = range_at(text, spaces_and_punctuation)) {
    return {range->first.size(), " "};
  }
  if (const auto* range = range_at(text, wide_characters)) {
    return {range->first.size(), std::string(1, folded(narrow(text)))};
  }
  return {};
}

// The n of a \n that was escaped twice is no letter.
bool is_escape(std::string_view text) {
  return text.size() > 1 && text[0] == '\\' && std::string_view(R"(nrt"\/)").contains(text[1]);
}

/// Lower case, without what nobody sees; spaces and punctuation that are not ASCII, and line breaks
/// that are written as escapes, are spaces.
std::string normalized(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const StandIn stand_in = is_high(text[0]) ? stand_in_at(text) : StandIn{};
    std::size_t taken = stand_in.size;
    out += stand_in.text;
    if (is_escape(text)) {
      out += ' ';
      taken = 2;
    }
    if (taken == 0) {
      out += folded(text[0]);
      taken = 1;
    }
    text.remove_prefix(taken);
  }
  return out;
}

/// The least fingerprint of each window, once for each of its places.
class Winnower {
 public:
  explicit Winnower(const FingerprintVisitor& visit) : visit_(visit) {}

  void add(std::uint64_t hash) {
    ring_.at(count_ % passage_window) = hash;
    ++count_;
    if (count_ >= passage_window) keep_least(passage_window);
  }
  // A text shorter than a window has one fingerprint all the same.
  void end() {
    if (count_ > 0 && count_ < passage_window) keep_least(count_);
  }

 private:
  void keep_least(std::size_t filled) {
    const std::uint64_t least = *std::ranges::min_element(std::span(ring_).first(filled));
    if (least == std::exchange(last_, least)) return;
    visit_(least);
  }

  const FingerprintVisitor& visit_;
  std::array<std::uint64_t, passage_window> ring_{};
  std::size_t count_ = 0;
  std::uint64_t last_ = 0;
};

constexpr std::uint64_t power(std::uint64_t base, std::size_t exponent) {
  std::uint64_t product = 1;
  for (std::size_t i = 0; i < exponent; ++i) product *= base;
  return product;
}

void see_passages(std::string_view text, const FingerprintVisitor& visit) {
  constexpr std::uint64_t oldest = power(passage_base, passage_size);
  std::array<unsigned char, passage_size> held{};
  std::uint64_t hash = 0;
  std::size_t count = 0;
  Winnower winnower(visit);
  for (const char c : text) {
    if (!is_digit(c) && !is_lower(c) && !is_high(c)) continue;
    unsigned char& place = held.at(count % passage_size);
    hash = hash * passage_base - place * oldest + static_cast<unsigned char>(c);
    place = static_cast<unsigned char>(c);
    if (++count >= passage_size) winnower.add(mixed(hash));
  }
  winnower.end();
}

bool ends_word(char c) {
  return static_cast<unsigned char>(c) <= ' ' || std::string_view("\"'`<>()[]{},;|\\*").contains(c);
}
bool ends_part(char c) { return std::string_view("/?&=#:@").contains(c); }
bool is_dressing(char c) { return std::string_view(".:!?-_/=&#~+").contains(c); }
bool is_sign(char c) { return std::string_view("@/.:_=").contains(c); }

std::string_view trimmed(std::string_view word) {
  while (!word.empty() && is_dressing(word.front())) word.remove_prefix(1);
  while (!word.empty() && is_dressing(word.back())) word.remove_suffix(1);
  return word.substr(0, longest_word);
}

// A date such as 2026-11-28, with or without a time: too common to count.
bool is_date(std::string_view word) {
  constexpr std::string_view shape = "0000-00-00";
  if (word.size() < shape.size()) return false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == '0' ? !is_digit(word[i]) : word[i] != shape[i]) return false;
  }
  return word.size() == shape.size() || word[shape.size()] == 't';
}

// Whether a common word shows, more likely than not, that one text is from the other.
bool is_telling(std::string_view word) {
  if (word.size() < shortest_word || is_date(word)) return false;
  if (word.size() >= shortest_plain_word) return true;
  const auto digits = static_cast<std::size_t>(std::ranges::count_if(word, is_digit));
  const bool has_letter = std::ranges::any_of(word, is_lower) || std::ranges::any_of(word, is_high);
  if (!has_letter) return digits >= fewest_digits;
  return digits > 0 || std::ranges::any_of(word, is_sign);
}

void see_word(std::string_view word, const FingerprintVisitor& visit) {
  if (!is_telling(word)) return;
  std::uint64_t hash = word_seed;
  for (const char c : word) hash = hash * passage_base + static_cast<unsigned char>(c);
  visit(mixed(hash));
}

template <class Ends, class See>
void split(std::string_view text, Ends ends, See see) {
  while (!text.empty()) {
    const auto end = static_cast<std::size_t>(std::ranges::find_if(text, ends) - text.begin());
    see(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// Visits a host as a whole, and the labels of its name.
void see_part(std::string_view part, const FingerprintVisitor& visit) {
  see_word(part, visit);
  if (!part.contains('.')) return;
  split(
      part, [](char c) { return c == '.'; },
      [&](std::string_view label) { see_word(trimmed(label), visit); });
}

void see_words(std::string_view text, const FingerprintVisitor& visit) {
  split(text, ends_word, [&](std::string_view raw) {
    const std::string_view word = trimmed(raw);
    see_part(word, visit);
    if (!std::ranges::any_of(word, ends_part)) return;
    split(word, ends_part, [&](std::string_view part) { see_part(trimmed(part), visit); });
  });
}

}  // namespace

void for_each_fingerprint(std::string_view text, const FingerprintVisitor& visit) {
  const std::string plain = normalized(text);
  see_passages(plain, visit);
  see_words(plain, visit);
}

void CopiedText::add_json(std::string_view json) {
  if (is_full_) return;
  for_each_text(json, LongRuns::ends, [this](std::string_view text) {
    if (!is_full_) for_each_fingerprint(text, [this](std::uint64_t found) { add(found); });
  });
}

bool CopiedText::is_in_json(std::string_view json) const {
  if (is_full_) return true;
  if (size_ == 0) return false;
  bool is_found = false;
  const auto look = [&](std::string_view text) {
    if (is_found) return;
    for_each_fingerprint(text, [&](std::uint64_t found) { is_found = is_found || has(found); });
  };
  for_each_text(json, LongRuns::whole, look);
  if (!is_found) look(joined_strings(json));
  return is_found;
}

bool CopiedText::has(std::uint64_t fingerprint) const {
  for (std::size_t i = 0; i < most_probes; ++i) {
    const std::uint64_t slot = slots_[((fingerprint >> 1U) + i) % slots_.size()];
    if (slot == fingerprint) return true;
    if (slot == 0) return false;
  }
  return false;
}

void CopiedText::add(std::uint64_t fingerprint) {
  if (is_full_) return;
  if (slots_.empty()) slots_.resize(first_slots);
  if (has(fingerprint)) return;
  if (size_ >= most) {
    is_full_ = true;
    return;
  }
  if (2 * (size_ + 1) > slots_.size()) grow();
  put(fingerprint);
}

void CopiedText::grow() {
  const std::vector<std::uint64_t> before =
      std::exchange(slots_, std::vector<std::uint64_t>(slots_.size() * 2));
  size_ = 0;
  for (const std::uint64_t fingerprint : before) {
    if (fingerprint != 0) put(fingerprint);
  }
}

// A text can be crafted so that its fingerprints collide: then the set counts as full, and the cost
// stays bounded.
void CopiedText::put(std::uint64_t fingerprint) {
  for (std::size_t i = 0; i < most_probes; ++i) {
    std::uint64_t& slot = slots_[((fingerprint >> 1U) + i) % slots_.size()];
    if (slot != 0) continue;
    slot = fingerprint;
    ++size_;
    return;
  }
  is_full_ = true;
}

}  // namespace cellblock
