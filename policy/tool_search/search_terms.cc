#include "policy/tool_search/search_terms.h"

#include <algorithm>
#include <array>
#include <utility>

namespace cellblock {
namespace {

// More would only ever be cut from the first of them.
constexpr std::size_t max_query_bytes = 1024;
constexpr std::size_t least_stem = 3;

// As stem_of() leaves them.
constexpr std::array<std::string_view, 56> common_terms{
    "a",    "about", "all",   "an",   "and",   "any",    "are",  "as",   "at",   "be",
    "by",   "can",   "could", "did",  "do",    "doe",    "for",  "from", "ha",   "have",
    "how",  "i",     "if",    "in",   "into",  "is",     "it",   "me",   "my",   "of",
    "on",   "or",    "our",   "out",  "pleas", "should", "some", "that", "the",  "their",
    "them", "there", "thi",   "to",   "tool",  "up",     "use",  "wa",   "want", "we",
    "what", "when",  "which", "with", "you",   "your"};

bool is_common(const std::string& term) {
  return std::ranges::find(common_terms, term) != common_terms.end();
}

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit_of_term(char c) { return c >= '0' && c <= '9'; }
bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }
bool is_vowel(char c) { return std::string_view("aeiouy").find(c) != std::string_view::npos; }
char lowered(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

/// Bytes of the character that begins here; 1 for what is no beginning.
std::size_t character_bytes(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t wanted = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
  std::size_t bytes = 1;
  while (bytes < wanted && bytes < text.size() && is_continuation(text[bytes])) ++bytes;
  return bytes;
}

// From U+2E80 on: Chinese, Japanese and Korean, and what is beyond the basic plane.
bool stands_alone(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character.front());
  if (character.size() >= 4) return true;
  if (character.size() != 3 || lead < 0xE2) return false;
  return lead > 0xE2 || static_cast<unsigned char>(character[1]) >= 0xBA;
}

bool drop_ending(std::string& word, std::string_view ending, std::size_t least) {
  if (!word.ends_with(ending) || word.size() < ending.size() + least) return false;
  word.resize(word.size() - ending.size());
  return true;
}

void drop_plural(std::string& word) {
  if (drop_ending(word, "ies", least_stem)) {
    word.push_back('y');
  } else if (word.ends_with("sses") || word.ends_with("xes") || word.ends_with("ches") ||
             word.ends_with("shes")) {
    drop_ending(word, "es", least_stem);
  } else if (!word.ends_with("ss") && !word.ends_with("us")) {
    drop_ending(word, "s", 2);
  }
}

// "merging" is from "merge", "getting" from "get": the letter that was doubled goes, and of three
// letters the "e" that was left out comes back.
void mend_stem(std::string& word) {
  const char last = word.back();
  if (is_vowel(last) || word.size() < least_stem) return;
  const char before = word[word.size() - 2];
  if (last == before && std::string_view("lsz").find(last) == std::string_view::npos) {
    word.pop_back();
  } else if (word.size() == least_stem && is_vowel(before) &&
             std::string_view("wx").find(last) == std::string_view::npos) {
    word.push_back('e');
  }
}

bool has_vowel(std::string_view word) { return std::ranges::any_of(word, is_vowel); }

void drop_tense(std::string& word) {
  for (const std::string_view ending : {"ing", "ed"}) {
    const std::string_view stem =
        std::string_view(word).substr(0, word.size() - std::min(word.size(), ending.size()));
    if (!has_vowel(stem)) continue;
    if (drop_ending(word, ending, least_stem)) return mend_stem(word);
  }
}

/// Takes a text apart, one character after the other.
class TermReader {
 public:
  TermReader(std::string_view text, std::size_t most) : rest_(text), most_(most) {}

  std::vector<std::string> read() {
    while (!rest_.empty() && terms_.size() < most_) step();
    end_word();
    return std::move(terms_);
  }

 private:
  void step() {
    const std::string_view character = rest_.substr(0, character_bytes(rest_));
    rest_.remove_prefix(character.size());
    if (!is_ascii(character.front())) return wide(character);
    const char c = character.front();
    if (!is_lower(c) && !is_upper(c) && !is_digit_of_term(c)) return end_word();
    if (begins_word(c)) end_word();
    before_ = c;
    if (word_.size() < max_term_bytes) word_.push_back(lowered(c));
  }

  // readFile is two words, and so are file2 and HTMLPage.
  bool begins_word(char c) const {
    if (word_.empty()) return false;
    if (is_digit_of_term(c) != is_digit_of_term(before_)) return true;
    if (!is_upper(c)) return false;
    return is_lower(before_) || (is_upper(before_) && !rest_.empty() && is_lower(rest_.front()));
  }

  void wide(std::string_view character) {
    if (stands_alone(character)) {
      end_word();
      word_ = character;
      return end_word();
    }
    before_ = 'a';
    if (word_.size() + character.size() <= max_term_bytes) word_.append(character);
  }

  void end_word() {
    if (!word_.empty() && terms_.size() < most_) terms_.push_back(stem_of(std::move(word_)));
    word_.clear();
    before_ = '\0';
  }

  std::string_view rest_;
  std::size_t most_;
  std::string word_;
  char before_ = '\0';
  std::vector<std::string> terms_;
};

}  // namespace

std::string stem_of(std::string word) {
  if (!std::ranges::all_of(word, is_lower)) return word;
  drop_plural(word);
  drop_tense(word);
  if (word.size() > least_stem + 1) drop_ending(word, "e", least_stem + 1);
  return word;
}

std::vector<std::string> terms_of(std::string_view text, std::size_t most) {
  return TermReader(text, most).read();
}

std::vector<std::string> query_terms(std::string_view words) {
  std::vector<std::string> terms;
  std::vector<std::string> common;
  for (std::string& term : terms_of(words.substr(0, max_query_bytes), max_query_bytes)) {
    std::vector<std::string>& kind = is_common(term) ? common : terms;
    const bool is_new = std::ranges::find(kind, term) == kind.end();
    if (is_new && kind.size() < max_query_terms) kind.push_back(std::move(term));
  }
  return terms.empty() ? common : terms;
}

namespace {

// Of computing in general: what only one kind of server has is not in here, nor what means
// something else as often.
constexpr std::array<std::string_view, 25> groups{
    "folder directory",
    "picture image photo",
    "rename move",
    "delete remove erase",
    "create make new",
    "write save store",
    "show get view display",
    "find search look locate",
    "run execute start launch",
    "command shell terminal",
    "change edit update modify replace",
    "send post publish",
    "answer reply respond",
    "open navigate visit",
    "website site page",
    "bug issue ticket",
    "size big large",
    "error failure exception",
    "program process application",
    "slow performance",
    "user person people",
    "comment note",
    "compress zip gzip archive",
    "copy duplicate clone fork",
    "stop kill terminate end",
};

constexpr std::size_t words_in_groups = [] {
  std::size_t count = groups.size();
  for (const std::string_view group : groups) {
    count += static_cast<std::size_t>(std::ranges::count(group, ' '));
  }
  return count;
}();

using Entry = std::pair<std::string, unsigned>;

std::array<Entry, words_in_groups> sorted_entries() {
  std::array<Entry, words_in_groups> entries;
  std::size_t at = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (std::string& term : terms_of(groups.at(i), words_in_groups)) {
      entries.at(at++) = {std::move(term), static_cast<unsigned>(i + 1)};
    }
  }
  std::ranges::sort(entries);
  return entries;
}

}  // namespace

unsigned word_group(std::string_view term) {
  static const auto entries = sorted_entries();
  const auto found = std::ranges::lower_bound(
      entries, term, {}, [](const Entry& entry) { return std::string_view(entry.first); });
  return found != entries.end() && found->first == term ? found->second : 0;
}

}  // namespace cellblock
