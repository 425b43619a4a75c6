#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "policy/config/breakage.h"
#include "policy/config/words.h"
#include "policy/config_reader/complaint.h"
#include "policy/config_reader/written.h"

/// Single values: unit read, range kept, default filled in, or a complaint that says what is
/// allowed.
namespace cellblock {

/// A part of one file, to complain about. Borrows the complaints.
struct Scope {
  Complaints& complaints;
  std::string file;
  std::string prefix;  ///< "server.files."
  /// The breakage of the server, role or token that this part declares; null: nothing can be left
  /// out.
  Breakage* breakage = nullptr;

  void error(Place at, std::string_view key, std::string text) const;
  /// A fact of the host: what declares it is left out. An error where that cannot be.
  void broken(Place at, std::string_view key, const std::string& text) const;
  void warning(Place at, std::string_view key, std::string text) const;
  bool mentioned(std::string_view key) const;
  Scope below(std::string_view table) const;  ///< "server.files." -> "server.files.limits."
};

template <class T>
struct Range {
  T least;
  T most;
  bool holds(T value) const { return value >= least && value <= most; }  // not of a NaN
};

// Each of these stores a value that is written and good into `out`, and else leaves it alone.

void check_integer(const Scope& scope, std::string_view key, const Maybe<std::int64_t>& text,
                   Range<std::int64_t> range, std::uint32_t& out);
void check_size(const Scope& scope, std::string_view key, const Maybe<std::string>& text,
                Range<std::uint64_t> range, std::uint64_t& out);
/// `unit`: "processors".
void check_number(const Scope& scope, std::string_view key, const Maybe<double>& text,
                  Range<double> range, std::string_view unit, double& out);
/// `besides`: what the key may say otherwise, as the complaint is to add it: `, or "never"`.
void check_duration(const Scope& scope, std::string_view key, const Maybe<std::string>& text,
                    Range<std::chrono::milliseconds> range, std::chrono::milliseconds& out,
                    std::string_view besides = {});

/// An absolute, normalised path.
void check_path(const Scope& scope, std::string_view key, const Maybe<std::string>& text,
                std::string& out);

// Values that are one word of a fixed list.

/// Complains about a word that is none of `known`.
void refuse_word(const Scope& scope, std::string_view key, const TextAt& text,
                 std::span<const std::string_view> known);

template <class T>
struct Choice {
  std::string_view word;
  T value;
};

/// Null: it is none of them, and complained about.
template <class T, std::size_t count>
const Choice<T>* find_choice(const Scope& scope, std::string_view key, const TextAt& text,
                             const std::array<Choice<T>, count>& choices) {
  for (const auto& choice : choices) {
    if (choice.word == text.value) return &choice;
  }
  std::array<std::string_view, count> known;
  std::ranges::transform(choices, known.begin(), &Choice<T>::word);
  refuse_word(scope, key, text, known);
  return nullptr;
}

/// Stores what is written, and leaves `out` alone when nothing is, or nothing good.
template <Worded E>
void check_choice(const Scope& scope, std::string_view key, const Maybe<std::string>& text,
                  E& out) {
  if (!text) return;
  const auto found = std::ranges::find(words<E>, text->value);
  if (found == words<E>.end()) return refuse_word(scope, key, *text, words<E>);
  out = static_cast<E>(found - words<E>.begin());
}

/// The visitor that reads a table's keys: stores each good value, complains about each bad one, and
/// leaves alone what is not written.
class KeyReader {
 public:
  using milliseconds = std::chrono::milliseconds;

  KeyReader(const Scope& scope, const Written& written) : scope_(scope), written_(written) {}

  void size(std::string_view key, std::uint64_t& out, std::uint64_t least, std::uint64_t most,
            std::string_view /*about*/) {
    check_size(scope_, key, written_.text(key), {least, most}, out);
  }
  template <std::unsigned_integral T>
  void integer(std::string_view key, T& out, std::int64_t least, std::int64_t most,
               std::string_view /*about*/) {
    auto value = static_cast<std::uint32_t>(out);
    check_integer(scope_, key, written_.get<std::int64_t>(key), {least, most}, value);
    out = static_cast<T>(value);
  }
  void number(std::string_view key, double& out, double least, double most, std::string_view unit,
              std::string_view /*about*/) {
    check_number(scope_, key, written_.get<double>(key), {least, most}, unit, out);
  }
  void time(std::string_view key, milliseconds& out, milliseconds least, milliseconds most,
            std::string_view /*about*/) {
    check_duration(scope_, key, written_.text(key), {least, most}, out);
  }
  /// A time, or a word for none.
  void time_or(std::string_view key, std::optional<milliseconds>& out, std::string_view none,
               milliseconds least, milliseconds most, std::string_view /*about*/);
  /// A key that is not written has no value.
  template <class T, class... Rest>
  void size(std::string_view key, std::optional<T>& out, Rest... rest) {
    if (written_.has(key)) size(key, out.emplace(), rest...);
  }
  template <class T, class... Rest>
  void integer(std::string_view key, std::optional<T>& out, Rest... rest) {
    if (written_.has(key)) integer(key, out.emplace(), rest...);
  }
  template <class T, class... Rest>
  void number(std::string_view key, std::optional<T>& out, Rest... rest) {
    if (written_.has(key)) number(key, out.emplace(), rest...);
  }
  template <Worded E>
  void choice(std::string_view key, E& out, std::string_view /*about*/) {
    check_choice(scope_, key, written_.text(key), out);
  }
  void flag(std::string_view key, bool& out, std::string_view /*about*/) {
    if (const auto value = written_.get<bool>(key)) out = value->value;
  }
  template <class E>
  void flag(std::string_view key, E& out, E when_true, E when_false, std::string_view /*about*/) {
    if (const auto value = written_.get<bool>(key)) out = value->value ? when_true : when_false;
  }
  void path(std::string_view key, std::string& out, std::string_view /*about*/) {
    check_path(scope_, key, written_.text(key), out);
  }
  /// `rate`, a rate or "none", and `burst`.
  void rate(std::optional<Rate>& out, std::string_view /*about*/);

  template <class Table>
  void table(std::string_view key, Table&& table, std::string_view /*about*/);

  // What these mean depends on more than the table.
  void text(auto&&...) {}
  void id(auto&&...) {}
  void texts(auto&&...) {}
  void ids(auto&&...) {}

 private:
  const Scope& scope_;
  const Written& written_;
};

/// `Table`: what visit_keys() takes; it holds references to what is read, or is it.
template <class Table>
void read_keys(const Scope& scope, const Written& written, Table&& table) {
  KeyReader reader(scope, written);
  visit_keys(reader, table);
}

template <class Table>
void KeyReader::table(std::string_view key, Table&& table, std::string_view /*about*/) {
  read_keys(scope_.below(key), written_.below(key), table);
}

}  // namespace cellblock
