#include "policy/config_reader/key_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <utility>

#include "policy/base/units.h"
#include "policy/config/words.h"
#include "policy/config_reader/text_keys.h"

namespace cellblock {
namespace {

using std::chrono::milliseconds;

std::string in_quotes(std::string_view text) { return fmt::format("\"{}\"", text); }

template <class T>
std::string range_text(const T& least, const T& most) {
  return fmt::format("{} to {}", least, most);
}

/// The visitor. Borrows the list.
class KeyLister {
 public:
  KeyLister(std::string prefix, std::vector<KeyEntry>& out)
      : prefix_(std::move(prefix)), out_(out) {}

  // Of tables with plain values: what is kept there is the default.
  void size(std::string_view key, std::uint64_t standard, std::uint64_t least, std::uint64_t most,
            std::string_view about) {
    size(key, std::optional(standard), least, most, about);
  }
  void size(std::string_view key, std::optional<std::uint64_t> standard, std::uint64_t least,
            std::uint64_t most, std::string_view about) {
    add(key, KeyKind::size, range_text(size_text(least), size_text(most)),
        standard ? in_quotes(size_text(*standard)) : "", about);
  }
  template <std::unsigned_integral T>
  void integer(std::string_view key, T standard, std::int64_t least, std::int64_t most,
               std::string_view about) {
    integer(key, std::optional(standard), least, most, about);
  }
  template <std::unsigned_integral T>
  void integer(std::string_view key, std::optional<T> standard, std::int64_t least,
               std::int64_t most, std::string_view about) {
    KeyEntry& entry = add(key, KeyKind::integer, range_text(least, most),
                          standard ? std::to_string(*standard) : "", about);
    entry.least = static_cast<double>(least);
    entry.most = static_cast<double>(most);
  }
  void number(std::string_view key, std::optional<double> standard, double least, double most,
              std::string_view unit, std::string_view about) {
    KeyEntry& entry = add(key, KeyKind::number, fmt::format("{} {}", range_text(least, most), unit),
                          standard ? fmt::format("{}", *standard) : "", about);
    entry.least = least;
    entry.most = most;
  }
  void time(std::string_view key, milliseconds standard, milliseconds least, milliseconds most,
            std::string_view about) {
    add(key, KeyKind::time, times(least, most), in_quotes(duration_text(standard)), about);
  }
  void time_or(std::string_view key, std::optional<milliseconds> standard, std::string_view none,
               milliseconds least, milliseconds most, std::string_view about) {
    add(key, KeyKind::time, fmt::format("{}, or \"{}\"", times(least, most), none),
        in_quotes(standard ? duration_text(*standard) : std::string(none)), about);
  }
  template <Worded E>
  void choice(std::string_view key, E standard, std::string_view about) {
    std::vector<std::string> all(words<E>.begin(), words<E>.end());
    KeyEntry& entry = add(key, KeyKind::text, fmt::format("\"{}\"", fmt::join(all, "\", \"")),
                          in_quotes(word_of(standard)), about);
    entry.words = std::move(all);
  }
  void flag(std::string_view key, bool standard, std::string_view about) {
    add(key, KeyKind::flag, "", standard ? "true" : "false", about);
  }
  template <class E>
  void flag(std::string_view key, E standard, E when_true, E /*when_false*/,
            std::string_view about) {
    flag(key, standard == when_true, about);
  }
  void path(std::string_view key, const std::string& /*standard*/, std::string_view about) {
    add(key, KeyKind::text, "a path", "", about);
  }
  void rate(const std::optional<Rate>& /*standard*/, std::string_view about) {
    add("rate", KeyKind::text, "a rate, or \"none\"", "", about);
    add("burst", KeyKind::integer, "1 to 1000000", "as rate", "so many at once");
  }
  template <class Table>
  void table(std::string_view key, Table table, std::string_view about)
    requires(!requires { table.value(); })
  {
    add(key, KeyKind::table, "", "", about);
    below(key, std::move(table));
  }
  void text(std::string_view key, std::string_view allowed, std::string_view about) {
    add(key, KeyKind::text, allowed, "", about);
  }
  void id(std::string_view key, std::string_view about) { add(key, KeyKind::id, "", "", about); }
  void texts(std::string_view key, std::string_view allowed, std::string_view about) {
    add(key, KeyKind::texts, allowed, "", about);
  }
  void ids(std::string_view key, std::string_view about) { add(key, KeyKind::ids, "", "", about); }

  // Of the tables of text_keys.h.
  void place(Place& /*out*/) {}
  void text(std::string_view key, auto& /*out*/, std::string_view allowed,
            std::string_view standard, std::string_view about) {
    add(key, KeyKind::text, allowed, standard, about);
  }
  void integer(std::string_view key, auto& /*out*/, std::string_view allowed,
               std::string_view standard, std::string_view about) {
    add(key, KeyKind::integer, allowed, standard, about);
  }
  void number(std::string_view key, auto& /*out*/, std::string_view about) {
    add(key, KeyKind::number, "", "", about);
  }
  void flag(std::string_view key, auto& /*out*/, std::string_view standard,
            std::string_view about) {
    add(key, KeyKind::flag, "", standard, about);
  }
  void id(std::string_view key, auto& /*out*/, std::string_view allowed, std::string_view standard,
          std::string_view about) {
    add(key, KeyKind::id, allowed, standard, about);
  }
  void texts(std::string_view key, auto& /*out*/, std::string_view allowed,
             std::string_view about) {
    add(key, KeyKind::texts, allowed, "", about);
  }
  void ids(std::string_view key, auto& /*out*/, std::string_view about) {
    add(key, KeyKind::ids, "", "", about);
  }
  void scalar(std::string_view key, auto& /*out*/, std::string_view about) {
    add(key, KeyKind::scalar, "", "", about);
  }
  void scalars(std::string_view key, auto& /*out*/, std::string_view about) {
    add(key, KeyKind::scalars, "", "", about);
  }
  void variables(std::string_view key, auto& /*out*/, std::string_view about) {
    add(key, KeyKind::strings, "", "", about);
  }
  void secrets(std::string_view key, auto& /*out*/, std::string_view about) {
    add(key, KeyKind::table, "", "", about);
    add(fmt::format("{}.VARIABLE", key), KeyKind::secret, "", "", "the path of a file, or a table");
    below(fmt::format("{}.VARIABLE", key), SecretText{});
  }
  void action(std::string_view key, auto& /*out*/, std::string_view standard,
              std::string_view about) {
    add(key, KeyKind::action, "\"off\", \"log\", \"redact\", \"block\", or a table", standard,
        about);
    below(key, RedactionChoiceText{});
  }
  void actions(std::string_view key, auto& /*out*/, std::string_view about) {
    add(key, KeyKind::table, "", "", about);
    RedactionChoiceText choice;
    KeyLister(path_of(key) + ".", out_).action("DETECTOR", choice, "as its sets", about);
  }
  template <class Table>
  void inside(auto& /*out*/, Table table) {
    visit_keys(*this, table);
  }
  template <class Table>
  void plain(std::string_view key, auto& /*out*/, Table table, std::string_view about) {
    add(key, KeyKind::table, "", "", about);
    below(key, std::move(table));
  }
  template <class Table>
  void plain_tables(std::string_view key, auto& /*out*/, Table table, std::string_view about) {
    add(key, KeyKind::tables, "", "", about);
    below(fmt::format("{}[]", key), std::move(table));
  }
  void table(std::string_view key, RedactionText& /*out*/, std::string_view about) {
    add(key, KeyKind::table, "", "", about);
    below(key, RedactionText{});
  }
  template <class Table>
  void table(std::string_view key, std::optional<Table>& /*out*/, std::string_view about) {
    add(key, KeyKind::table, "", "", about);
    below(key, Table{});
  }
  template <class Table>
  void tables(std::string_view key, std::vector<Table>& /*out*/, std::string_view about) {
    add(key, KeyKind::tables, "", "", about);
    below(fmt::format("{}[]", key), Table{});
  }
  template <class Table>
  void named(std::string_view key, std::vector<Table>& /*out*/, std::string_view name,
             std::string_view about) {
    add(key, KeyKind::table, "", "", about);
    const std::string chosen = fmt::format("{}.{}", key, name);
    add(chosen, KeyKind::table, "", "", about);
    below(chosen, Table{});
  }
  void listen(std::string_view key, std::optional<HttpText>& out, std::string_view about) {
    add("listen", KeyKind::table, "", "", about);
    KeyLister(path_of("listen") + ".", out_).table(key, out, about);
  }

 private:
  static std::string times(milliseconds least, milliseconds most) {
    return range_text(duration_text(least), duration_text(most));
  }
  std::string path_of(std::string_view key) const { return prefix_ + std::string(key); }
  KeyEntry& add(std::string_view key, KeyKind kind, std::string_view allowed,
                std::string_view standard, std::string_view about) {
    out_.push_back({.path = path_of(key),
                    .kind = kind,
                    .allowed = std::string(allowed),
                    .standard = std::string(standard),
                    .about = std::string(about)});
    return out_.back();
  }
  template <class Table>
  void below(std::string_view key, Table table) {
    KeyLister keys(path_of(key) + ".", out_);
    visit_keys(keys, table);
  }

  std::string prefix_;
  std::vector<KeyEntry>& out_;
};

// The next part of a path, which is taken off.
std::string_view take_part(std::string_view& path) {
  const std::string_view part = path.substr(0, path.find('.'));
  path.remove_prefix(std::min(part.size() + 1, path.size()));
  return part;
}

bool is_chosen(std::string_view part) {
  return std::ranges::all_of(part, [](char c) { return c >= 'A' && c <= 'Z'; });
}

bool is_part_of(std::string_view path, std::string_view named) {
  while (!named.empty()) {
    if (path.empty()) return false;
    std::string_view part = take_part(path);
    std::string_view name = take_part(named);
    if (part.ends_with("[]")) part.remove_suffix(2);
    if (name.ends_with("[]")) name.remove_suffix(2);
    if (!is_chosen(part) && part != name) return false;
  }
  return true;
}

}  // namespace

std::vector<KeyEntry> list_keys() {
  std::vector<KeyEntry> keys;
  KeyLister lister("", keys);
  ConfigText text;
  visit_installation(lister, text);
  visit_servers(lister, text);
  return keys;
}

std::string_view name_of(KeyKind kind) {
  switch (kind) {
    case KeyKind::table:
      return "a table";
    case KeyKind::tables:
      return "an array of tables";
    case KeyKind::size:
      return "a size";
    case KeyKind::time:
      return "a time";
    case KeyKind::text:
      return "a string";
    case KeyKind::integer:
      return "an integer";
    case KeyKind::number:
      return "a number";
    case KeyKind::flag:
      return "true or false";
    case KeyKind::texts:
      return "an array of strings";
    case KeyKind::id:
      return "a name or a number";
    case KeyKind::ids:
      return "an array of names or numbers";
    case KeyKind::scalar:
      return "a string, a number, true or false";
    case KeyKind::scalars:
      return "an array of strings, numbers, true or false";
    case KeyKind::strings:
      return "a table of strings";
    case KeyKind::secret:
    case KeyKind::action:
      return "a string or a table";
  }
  return "";
}

std::vector<KeyEntry> keys_below(const std::vector<KeyEntry>& keys, std::string_view part) {
  std::vector<KeyEntry> below;
  for (const KeyEntry& key : keys) {
    if (is_part_of(key.path, part)) below.push_back(key);
  }
  return below;
}

}  // namespace cellblock
