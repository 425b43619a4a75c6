#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/config_reader/table_text.h"
#include "policy/config_reader/text_keys.h"
#include "policy/config_reader/toml_reader.h"
#include "policy/config_reader/written.h"

/// The visitors that take tables out of the TOML: KeyTypes one whose keys all mean something by
/// themselves, TextReader those of text_keys.h. A value of the wrong type is complained about and
/// not kept.
namespace cellblock {

/// Each key has to be of its type, and none may be there that the visitor function does not name.
class KeyTypes {
 public:
  KeyTypes(TableReader& reader, Written& out) : reader_(reader), out_(out) {}

  void size(std::string_view key, auto&&...) { out_.set(key, reader_.text(key)); }
  void time(std::string_view key, auto&&...) { out_.set(key, reader_.text(key)); }
  void time_or(std::string_view key, auto&&...) { out_.set(key, reader_.text(key)); }
  void choice(std::string_view key, auto&&...) { out_.set(key, reader_.text(key)); }
  void path(std::string_view key, auto&&...) { out_.set(key, reader_.text(key)); }
  void text(std::string_view key, auto&&...) { out_.set(key, reader_.text(key)); }
  void integer(std::string_view key, auto&&...) { out_.set(key, reader_.integer(key)); }
  void number(std::string_view key, auto&&...) { out_.set(key, reader_.number(key)); }
  void flag(std::string_view key, auto&&...) { out_.set(key, reader_.boolean(key)); }
  void id(std::string_view key, auto&&...) { out_.set(key, reader_.id(key)); }
  void texts(std::string_view key, auto&&...) { out_.set(key, reader_.located_texts(key)); }
  void ids(std::string_view key, auto&&...) { out_.set(key, reader_.located_ids(key)); }
  template <class Table>
  void table(std::string_view key, Table table, std::string_view /*about*/);
  void rate(auto&&...) {
    out_.set("rate", reader_.text("rate"));
    out_.set("burst", reader_.integer("burst"));
  }

 private:
  TableReader& reader_;
  Written& out_;
};

/// `Table`: what visit_keys() takes.
template <class Table>
Written write_down(TableReader& reader, Table table) {
  Written written(reader.at());
  KeyTypes types(reader, written);
  visit_keys(types, table);
  return written;
}

template <class Table>
void KeyTypes::table(std::string_view key, Table table, std::string_view /*about*/) {
  if (auto reader = reader_.table(key)) out_.set_table(key, write_down(*reader, table));
}

class TextReader {
 public:
  explicit TextReader(TableReader& reader) : reader_(reader) {}

  void place(Place& out) { out = reader_.at(); }
  void text(std::string_view key, Maybe<std::string>& out, auto&&...) { out = reader_.text(key); }
  void integer(std::string_view key, Maybe<std::int64_t>& out, auto&&...) {
    out = reader_.integer(key);
  }
  void number(std::string_view key, Maybe<double>& out, auto&&...) { out = reader_.number(key); }
  void flag(std::string_view key, Maybe<bool>& out, auto&&...) { out = reader_.boolean(key); }
  void id(std::string_view key, Maybe<IdText>& out, auto&&...) { out = reader_.id(key); }
  void texts(std::string_view key, TextList& out, auto&&...) { out = reader_.texts(key); }
  void texts(std::string_view key, Maybe<TextList>& out, auto&&...) {
    out = reader_.located_texts(key);
  }
  void ids(std::string_view key, IdList& out, auto&&...) { out = reader_.ids(key); }
  void ids(std::string_view key, Maybe<IdList>& out, auto&&...) { out = reader_.located_ids(key); }
  void scalar(std::string_view key, Maybe<ScalarText>& out, auto&&...) {
    out = reader_.scalar(key);
  }
  void scalars(std::string_view key, Maybe<ScalarList>& out, auto&&...) {
    out = reader_.scalars(key);
  }
  void variables(std::string_view key, std::vector<VariableText>& out, auto&&...) {
    out = reader_.variables(key);
  }
  void secrets(std::string_view key, std::vector<SecretText>& out, std::string_view /*about*/);
  void action(std::string_view key, RedactionChoiceText& out, auto&&...) {
    out = choice_of(reader_.text_or_table(key));
  }
  void actions(std::string_view key, std::vector<DetectorText>& out, std::string_view /*about*/);

  /// The keys of a table with plain values, in this table.
  template <class Table>
  void inside(Written& out, Table table) {
    out = write_down(reader_, std::move(table));
  }
  /// A table with plain values.
  template <class Out, class Table>
  void plain(std::string_view key, Out& out, Table table, std::string_view /*about*/) {
    if (auto reader = reader_.table(key)) out = write_down(*reader, std::move(table));
  }
  template <class Table>
  void plain_tables(std::string_view key, std::vector<Written>& out, const Table& table,
                    std::string_view /*about*/) {
    for (TableReader& reader : reader_.tables(key, EntryName::plain)) {
      out.push_back(write_down(reader, table));
    }
  }
  void table(std::string_view key, RedactionText& out, std::string_view /*about*/);
  template <class Table>
  void table(std::string_view key, std::optional<Table>& out, std::string_view /*about*/) {
    if (auto reader = reader_.table(key)) read(*reader, out.emplace());
  }
  template <class Table>
  void tables(std::string_view key, std::vector<Table>& out, std::string_view /*about*/) {
    for (TableReader& reader : reader_.tables(key, EntryName::numbered)) {
      read(reader, out.emplace_back());
    }
  }
  /// Tables whose names the admin has chosen; `Table` has a `name`.
  template <class Table>
  void named(std::string_view key, std::vector<Table>& out, auto&&...) {
    if (auto tables = reader_.table(key)) read_named(*tables, out);
  }
  /// `[listen.KEY]`
  void listen(std::string_view key, std::optional<HttpText>& out, std::string_view /*about*/);

 private:
  template <class Table>
  static void read(TableReader& reader, Table& table);
  template <class Table>
  static void read_named(TableReader& tables, std::vector<Table>& out);
  static RedactionChoiceText choice_of(TextOrTable value);

  TableReader& reader_;
};

template <class Table>
void TextReader::read(TableReader& reader, Table& table) {
  TextReader keys(reader);
  visit_keys(keys, table);
}

template <class Table>
void TextReader::read_named(TableReader& tables, std::vector<Table>& out) {
  for (TextAt& name : tables.names()) {
    auto table = tables.table(name.value);
    if (!table) continue;
    Table& read_table = out.emplace_back();
    read_table.name = std::move(name);
    read(*table, read_table);
  }
}

}  // namespace cellblock
