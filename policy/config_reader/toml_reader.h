#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/config_reader/complaint.h"
#include "policy/config_reader/written.h"

/// One table of the TOML, read key by key with the type each key must have. Private to config_text:
/// nothing else sees toml++.
namespace cellblock {

// Keys with too many parts are looked for in the text before toml++ sees it: it bounds how deep
// values nest, but not how many parts a dotted key has, and frees each part by recursion, so a line
// of "a.a.a.…" would overflow the stack.

inline constexpr int max_key_dots = 16;

/// The place where a key with more dots becomes too deep. Knows strings and comments as TOML does,
/// up to the first syntax error; nothing behind one is parsed.
std::optional<Place> find_too_deep_key(std::string_view text);

Place place_of(const toml::source_region& source);

struct TextOrTable;

/// The name of an entry of an array of tables in complaints: "rule[2].effect", or "token.user".
enum class EntryName { numbered, plain };

/// What is asked for is known; the destructor complains about every other key in the table, and
/// suggests one that was asked for. Borrows the table, the file name and the complaints.
class TableReader {
 public:
  TableReader(const toml::table& table, std::string_view file, std::string prefix,
              Complaints& complaints);
  TableReader(TableReader&& other) noexcept;
  TableReader(const TableReader&) = delete;
  TableReader& operator=(const TableReader&) = delete;
  TableReader& operator=(TableReader&&) = delete;
  ~TableReader();

  Place at() const { return place_of(table_->source()); }

  // No value: the key is absent, or of the wrong type and complained about.
  Maybe<std::string> text(std::string_view key, std::string_view allowed = "a string in quotes");
  Maybe<std::int64_t> integer(std::string_view key);
  Maybe<double> number(std::string_view key);
  Maybe<bool> boolean(std::string_view key);
  Maybe<IdText> id(std::string_view key);
  Maybe<TextList> located_texts(std::string_view key);
  TextList texts(std::string_view key);
  IdList ids(std::string_view key);
  Maybe<IdList> located_ids(std::string_view key);
  Maybe<ScalarText> scalar(std::string_view key);
  Maybe<ScalarList> scalars(std::string_view key);
  std::vector<VariableText> variables(std::string_view key);
  std::optional<TableReader> table(std::string_view key);
  TextOrTable text_or_table(std::string_view key);
  bool holds_table(std::string_view key) const;
  /// `[[key]]`.
  std::vector<TableReader> tables(std::string_view key, EntryName names);

  /// Every key of this table, all of them known from here on: for tables whose keys are names that
  /// the admin chose.
  std::vector<TextAt> names();

  /// A key that is known, but not allowed here.
  void refuse(std::string_view key, std::string text);

 private:
  const toml::node* find(std::string_view key);
  const toml::array* array(std::string_view key, std::string_view allowed);
  std::string path_of(std::string_view key) const;
  void wrong_type(const toml::node& node, std::string path, std::string_view allowed);
  void complain_about_unknown_keys();

  const toml::table* table_;  ///< null: moved from
  std::string_view file_;
  std::string prefix_;  ///< "server.files."
  Complaints* complaints_;
  std::vector<std::string> asked_;
  std::vector<std::string> refused_;
  enum class Keys { fixed, free } keys_ = Keys::fixed;
};

/// One of them, or neither.
struct TextOrTable {
  Maybe<std::string> text;
  std::optional<TableReader> table;
};

}  // namespace cellblock
