#include "policy/redaction/secret_finder.h"

#include <algorithm>
#include <array>
#include <string>
#include <tuple>

#include "policy/redaction/json_tokens.h"

namespace cellblock {

namespace {

constexpr std::uint8_t no_digit = 0xff;
constexpr std::uint8_t line_break = 0xfe;

// Both alphabets: that of URLs has - and _ for + and /.
constexpr std::array<std::uint8_t, 256> base64_digits = [] {
  std::array<std::uint8_t, 256> digits{};
  digits.fill(no_digit);
  std::uint8_t value = 0;
  for (char letter = 'A'; letter <= 'Z'; ++letter)
    digits[static_cast<unsigned char>(letter)] = value++;
  for (char letter = 'a'; letter <= 'z'; ++letter)
    digits[static_cast<unsigned char>(letter)] = value++;
  for (char digit = '0'; digit <= '9'; ++digit) digits[static_cast<unsigned char>(digit)] = value++;
  digits['+'] = digits['-'] = 62;
  digits['/'] = digits['_'] = 63;
  digits['\n'] = digits['\r'] = line_break;
  return digits;
}();

std::uint8_t digit_at(std::string_view text, std::size_t at) {
  return base64_digits[static_cast<unsigned char>(text[at])];
}

constexpr std::array<std::uint8_t, 256> hex_digits = [] {
  std::array<std::uint8_t, 256> digits{};
  digits.fill(no_digit);
  for (std::uint8_t i = 0; i < 10; ++i) digits[static_cast<unsigned char>('0' + i)] = i;
  for (std::uint8_t i = 0; i < 6; ++i) {
    digits[static_cast<unsigned char>('a' + i)] = digits[static_cast<unsigned char>('A' + i)] =
        static_cast<std::uint8_t>(10 + i);
  }
  return digits;
}();

bool is_hex_digit(char c) { return hex_digits[static_cast<unsigned char>(c)] != no_digit; }

// `digits` are hexadecimal, and even in number.
std::string bytes_of_hex(std::string_view digits) {
  std::string bytes;
  bytes.reserve(digits.size() / 2);
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    const unsigned high = hex_digits[static_cast<unsigned char>(digits[i])];
    const unsigned low = hex_digits[static_cast<unsigned char>(digits[i + 1])];
    bytes += static_cast<char>(high << 4U | low);
  }
  return bytes;
}

enum class Wanted { first, all };

}  // namespace

SecretFinder::SecretFinder(const SecretMarks& marks) : key_(marks.key), marks_(marks.marks) {
  std::erase_if(marks_, [](const SecretMark& mark) {
    return mark.length < shortest_marked || mark.length > longest_piece ||
           mark.start >= MarkKey::tags;
  });
  std::ranges::sort(marks_, {}, [](const SecretMark& mark) {
    return std::tuple(mark.start, longest_piece - mark.length, mark.secret);
  });
  for (const SecretMark& mark : marks_) starts_.set(mark.start);
}

/// One text, in one form.
class SecretFinder::Search {
 public:
  Search(const SecretFinder& finder, Wanted wanted, std::vector<Finding>& found)
      : finder_(finder), wanted_(wanted), found_(found) {}

  bool is_done() const { return wanted_ == Wanted::first && !found_.empty(); }

  void plainly(std::string_view text) {
    if (text.size() < shortest_marked) return;
    const std::size_t last = text.size() - shortest_marked;
    for (std::size_t at = 0; at <= last; ++at) {
      const std::uint16_t tag = finder_.key_.start_tag(first_word(text.substr(at)));
      if (!finder_.starts_.test(tag)) continue;
      const SecretMark* mark = match(tag, text.substr(at));
      if (mark == nullptr) continue;
      found_.push_back({{at, at + mark->length}, mark->secret});
      if (is_done()) return;
      at += mark->length - 1U;
    }
  }

  void in_base64(std::string_view text);

  // Nobody knows at which of its digits a byte begins.
  void in_hex(std::string_view text) {
    for (std::size_t begin = 0; begin < text.size() && !is_done();) {
      const auto* const end = std::find_if_not(text.begin() + begin, text.end(), is_hex_digit);
      const std::string_view digits(text.begin() + begin, end);
      if (digits.size() >= 2 * shortest_marked) {
        hex_run(digits, begin);
        hex_run(digits.substr(1), begin + 1);
      }
      begin += digits.size() + 1;
    }
  }

  void escaped(std::string_view text, Escapes escapes) {
    if (is_done() || !has_escapes(text, escapes)) return;
    const std::string meant = unescape(text, escapes);
    std::vector<Finding> here;
    Search search(finder_, wanted_, here);
    search.plainly(meant);
    if (!search.is_done()) search.in_base64(meant);
    if (!search.is_done()) search.in_hex(meant);
    std::ranges::sort(here, {}, [](const Finding& finding) { return finding.where.begin; });
    move_to_escaped(text, escapes, here);
    found_.insert(found_.end(), here.begin(), here.end());
  }

  void hex_run(std::string_view digits, std::size_t begin) {
    std::vector<Finding> here;
    Search(finder_, wanted_, here).plainly(bytes_of_hex(digits));
    for (const Finding& finding : here) {
      found_.push_back(
          {{begin + 2 * finding.where.begin, begin + 2 * finding.where.end}, finding.what});
    }
  }

  /// The longest mark that `rest` begins with; null: none.
  const SecretMark* match(std::uint16_t tag, std::string_view rest) const {
    const auto& marks = finder_.marks_;
    auto mark = std::ranges::lower_bound(marks, tag, {}, &SecretMark::start);
    for (; mark != marks.end() && mark->start == tag; ++mark) {
      const std::string_view piece = rest.substr(0, mark->length);
      if (piece.size() == mark->length && finder_.key_.whole_tag(piece) == mark->whole &&
          finder_.key_.digest(piece) == mark->digest) {
        return &*mark;
      }
    }
    return nullptr;
  }

  const SecretFinder& finder_;
  Wanted wanted_;
  std::vector<Finding>& found_;
};

/// Reads base64 without knowing where it begins: a byte may begin at each second bit. The last 68
/// bits are kept, in which three times eight bytes end that ended in no earlier digit.
class SecretFinder::Base64Search {
 public:
  Base64Search(Search& search, std::string_view text) : search_(search), text_(text) {}

  void run() {
    for (at_ = 0; at_ < text_.size() && !search_.is_done(); ++at_) {
      const std::uint8_t digit = digit_at(text_, at_);
      if (digit == line_break) continue;
      if (digit == no_digit) {
        digits_ = 0;
        continue;
      }
      high_ = high_ << 6 | low_ >> 58;
      low_ = low_ << 6 | digit;
      if (++digits_ < 11) continue;
      look(low_, 0);
      look(low_ >> 2 | high_ << 62, 2);
      if (digits_ >= 12) look(low_ >> 4 | high_ << 60, 4);
    }
  }

 private:
  void look(std::uint64_t word, unsigned bits_left) {
    const std::uint16_t tag = search_.finder_.key_.start_tag(word);
    if (search_.finder_.starts_.test(tag)) compare(tag, word, bits_left);
  }

  void compare(std::uint16_t tag, std::uint64_t word, unsigned bits_left) {
    const std::size_t begin = first_digit(bits_left == 4 ? 12 : 11);
    if (begin < done_) return;
    const std::size_t size = read_on(word, bits_left);
    const SecretMark* mark = search_.match(tag, std::string_view(bytes_.data(), size));
    if (mark == nullptr) return;
    done_ = ends_[mark->length - 1U];
    search_.found_.push_back({{begin, done_}, mark->secret});
  }

  /// Where the digit stands that is the `count`th from here backwards.
  std::size_t first_digit(unsigned count) const {
    std::size_t at = at_;
    while (true) {
      if (digit_at(text_, at) != line_break && --count == 0) return at;
      --at;
    }
  }

  /// Fills in as much as a piece can be long, or there is: how many bytes.
  std::size_t read_on(std::uint64_t word, unsigned bits) {
    for (std::size_t i = 0; i < 8; ++i) {
      bytes_[i] = static_cast<char>(word >> (56 - 8 * i));
      ends_[i] = at_ + 1;
    }
    std::size_t size = 8;
    std::uint64_t read = low_;  // its last `bits` belong to the next byte
    for (std::size_t at = at_ + 1; at < text_.size() && size < longest_piece; ++at) {
      const std::uint8_t digit = digit_at(text_, at);
      if (digit == line_break) continue;
      if (digit == no_digit) break;
      read = read << 6 | digit;
      bits += 6;
      if (bits < 8) continue;
      bits -= 8;
      bytes_[size] = static_cast<char>(read >> bits);
      ends_[size++] = at + 1;
    }
    return size;
  }

  Search& search_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t digits_ = 0;
  std::uint64_t high_ = 0;
  std::uint64_t low_ = 0;
  std::size_t done_ = 0;
  std::array<char, longest_piece> bytes_{};
  std::array<std::size_t, longest_piece> ends_{};
};

void SecretFinder::Search::in_base64(std::string_view text) { Base64Search(*this, text).run(); }

bool SecretFinder::occurs_in(std::string_view text) const {
  if (is_empty()) return false;
  std::vector<Finding> found;
  Search search(*this, Wanted::first, found);
  search.plainly(text);
  if (!search.is_done()) search.in_base64(text);
  if (!search.is_done()) search.in_hex(text);
  search.escaped(text, Escapes::json);
  search.escaped(text, Escapes::percent);
  return !found.empty();
}

void SecretFinder::find(std::string_view text, std::vector<Finding>& found) const {
  if (is_empty()) return;
  Search search(*this, Wanted::all, found);
  search.plainly(text);
  search.in_base64(text);
  search.in_hex(text);
  search.escaped(text, Escapes::json);
  search.escaped(text, Escapes::percent);
}

}  // namespace cellblock
