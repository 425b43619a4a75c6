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

/// The length of an invisible character (soft hyphen, zero width, word joiner); 0: it is visible.
std::size_t invisible_at(std::string_view text) {
  for (const std::string_view hidden : {"\xc2\xad", "\xe2\x80\x8b", "\xe2\x80\x8c", "\xe2\x80\x8d",
                                        "\xe2\x81\xa0", "\xef\xbb\xbf"}) {
    if (text.starts_with(hidden)) return hidden.size();
  }
  return 0;
}

// The n of a \n that was escaped twice is no letter.
bool is_escape(std::string_view text) {
  return text.size() > 1 && text[0] == '\\' && std::string_view(R"(nrt"\/)").contains(text[1]);
}

/// Lower case, without invisible characters; escaped line breaks become spaces.
std::string normalized(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    std::size_t taken = is_high(text[0]) ? invisible_at(text) : 0;
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
  for_each_text(json, [this](std::string_view text) {
    if (!is_full_) for_each_fingerprint(text, [this](std::uint64_t found) { add(found); });
  });
}

bool CopiedText::is_in_json(std::string_view json) const {
  if (is_full_) return true;
  if (size_ == 0) return false;
  bool is_found = false;
  for_each_text(json, [&](std::string_view text) {
    if (is_found) return;
    for_each_fingerprint(text, [&](std::uint64_t found) { is_found = is_found || has(found); });
  });
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
