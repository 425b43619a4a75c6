#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "policy/config_check/choice_check.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/written.h"

/// The visitor that reads a table's keys: each value that is written is stored if it is one and in
/// its range, and complained about if not. What is not written stays as it was.
namespace cellblock {

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
  /// One that is not written has no value.
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
