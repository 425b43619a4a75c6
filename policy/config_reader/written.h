#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "policy/config_reader/complaint.h"

/// A table as it is written: which of its keys are there with a value of the right type, and where.
/// What the values mean says the table's visitor function (config/installation_keys.h,
/// config/server_keys.h).
namespace cellblock {

/// A value of a TOML file with its place.
template <class T>
struct Located {
  T value{};
  Place at;
};

template <class T>
using Maybe = std::optional<Located<T>>;

using TextAt = Located<std::string>;
using TextList = std::vector<TextAt>;

/// A user or group: a name, or a number.
using IdText = std::variant<std::string, std::int64_t>;
using IdList = std::vector<Located<IdText>>;

/// A string, an integer, a fraction, or a boolean.
using ScalarText = std::variant<std::string, std::int64_t, double, bool>;
using ScalarList = std::vector<Located<ScalarText>>;

struct VariableText {
  TextAt name;
  TextAt value;
};

using WrittenValue =
    std::variant<std::string, std::int64_t, double, bool, TextList, IdText, IdList>;

class Written {
 public:
  Written() = default;
  explicit Written(Place at) : at_(at) {}

  /// The place of the table.
  Place at() const { return at_; }
  /// Nowhere: the key is not written.
  Place at(std::string_view key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? Place{} : found->second.at;
  }
  /// False for a key of the wrong type, which has been complained about.
  bool has(std::string_view key) const { return values_.contains(key); }

  template <class T>
  Maybe<T> get(std::string_view key) const {
    const auto found = values_.find(key);
    if (found == values_.end()) return std::nullopt;
    return Located<T>{std::get<T>(found->second.value), found->second.at};
  }
  Maybe<std::string> text(std::string_view key) const { return get<std::string>(key); }
  Maybe<std::int64_t> integer(std::string_view key) const { return get<std::int64_t>(key); }
  Maybe<bool> flag(std::string_view key) const { return get<bool>(key); }
  Maybe<IdText> id(std::string_view key) const { return get<IdText>(key); }
  /// An empty list if the key is not written.
  TextList texts(std::string_view key) const {
    auto list = get<TextList>(key);
    return list ? std::move(list->value) : TextList{};
  }

  /// An empty table without a place if it is not written.
  Written below(std::string_view key) const {
    const auto found = tables_.find(key);
    return found == tables_.end() ? Written{} : found->second;
  }
  void set_table(std::string_view key, Written table) {
    tables_.insert_or_assign(std::string(key), std::move(table));
  }

  template <class T>
  void set(std::string_view key, Maybe<T> value) {
    if (!value) return;
    values_.insert_or_assign(std::string(key),
                             Located<WrittenValue>{std::move(value->value), value->at});
  }

 private:
  Place at_;
  std::map<std::string, Located<WrittenValue>, std::less<>> values_;
  std::map<std::string, Written, std::less<>> tables_;
};

}  // namespace cellblock
