#pragma once

#include <cstddef>
#include <string_view>

#include "policy/config_reader/toml_reader.h"
#include "policy/config_reader/written.h"

/// The visitor that takes a table's keys out of the TOML: each has to be of its type, and none may
/// be there that the visitor function does not name.
namespace cellblock {

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

}  // namespace cellblock
