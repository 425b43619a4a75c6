#include "policy/config_reader/toml_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "policy/base/suggestion.h"

namespace cellblock {
namespace {

class KeyDepthScanner {
 public:
  explicit KeyDepthScanner(std::string_view text) : text_(text) {}

  std::optional<Place> run() {
    while (at_ < text_.size()) {
      take(text_[at_]);
      if (dots_ > max_key_dots) return place();
    }
    return std::nullopt;
  }

 private:
  void take(char c) {
    switch (c) {
      case '"':
      case '\'':
        return skip_string(c);
      case '#':
        at_ = std::min(text_.find('\n', at_), text_.size());
        return;
      case '.':
        ++dots_;
        break;
      case '\n':
      case '=':
      case ',':
      case '[':
      case ']':
      case '{':
      case '}':
        dots_ = 0;
        break;
      default:
        break;
    }
    ++at_;
  }

  void skip_string(char quote) {
    const bool many_lines = quotes_here(quote) >= 3;
    at_ += many_lines ? 3 : 1;
    while (at_ < text_.size() && !ends_here(quote, many_lines)) {
      at_ += quote == '"' && text_[at_] == '\\' ? 2 : 1;
    }
    // A long string may end in up to five quotes, of which three close it.
    at_ += many_lines ? std::min<std::size_t>(quotes_here(quote), 5) : 1;
    at_ = std::min(at_, text_.size());
  }

  bool ends_here(char quote, bool many_lines) const {
    if (many_lines) return quotes_here(quote) >= 3;
    return text_[at_] == quote || text_[at_] == '\n';
  }

  std::size_t quotes_here(char quote) const {
    if (at_ >= text_.size()) return 0;
    return std::min(text_.find_first_not_of(quote, at_), text_.size()) - at_;
  }

  Place place() const {
    const std::string_view before = text_.substr(0, at_);
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
    return {static_cast<unsigned>(std::ranges::count(before, '\n') + 1),
            static_cast<unsigned>(at_ - line_start)};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int dots_ = 0;
};

}  // namespace

std::optional<Place> find_too_deep_key(std::string_view text) {
  return KeyDepthScanner(text).run();
}

namespace {

constexpr std::string_view scalar_types = "a string in quotes, a number, true or false";

std::string_view type_name(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a fraction";
    case toml::node_type::boolean:
      return "a boolean";
    default:
      return "a date or time";
  }
}

std::optional<ScalarText> scalar_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return ScalarText(text->get());
  if (const auto* number = node.as_integer()) return ScalarText(number->get());
  if (const auto* number = node.as_floating_point()) return ScalarText(number->get());
  if (const auto* boolean = node.as_boolean()) return ScalarText(boolean->get());
  return std::nullopt;
}

std::optional<IdText> id_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return IdText(text->get());
  if (const auto* number = node.as_integer()) return IdText(number->get());
  return std::nullopt;
}

}  // namespace

Place place_of(const toml::source_region& source) {
  return {source.begin.line, source.begin.column};
}

TableReader::TableReader(const toml::table& table, std::string_view file, std::string prefix,
                         Complaints& complaints)
    : table_(&table), file_(file), prefix_(std::move(prefix)), complaints_(&complaints) {}

TableReader::TableReader(TableReader&& other) noexcept
    : table_(std::exchange(other.table_, nullptr)),
      file_(other.file_),
      prefix_(std::move(other.prefix_)),
      complaints_(other.complaints_),
      asked_(std::move(other.asked_)),
      refused_(std::move(other.refused_)),
      keys_(other.keys_) {}

TableReader::~TableReader() {
  if (table_ != nullptr) complain_about_unknown_keys();
}

std::string TableReader::path_of(std::string_view key) const { return prefix_ + std::string(key); }

const toml::node* TableReader::find(std::string_view key) {
  asked_.emplace_back(key);
  return table_->get(key);
}

void TableReader::wrong_type(const toml::node& node, std::string path, std::string_view allowed) {
  complaints_->error(file_, place_of(node.source()), std::move(path),
                     fmt::format("is {}; allowed: {}", type_name(node), allowed));
}

Maybe<std::string> TableReader::text(std::string_view key, std::string_view allowed) {
  const toml::node* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (const auto* value = node->as_string()) return {{value->get(), place_of(node->source())}};
  wrong_type(*node, path_of(key), allowed);
  return std::nullopt;
}

Maybe<std::int64_t> TableReader::integer(std::string_view key) {
  const toml::node* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (const auto* value = node->as_integer()) return {{value->get(), place_of(node->source())}};
  wrong_type(*node, path_of(key), "an integer");
  return std::nullopt;
}

Maybe<double> TableReader::number(std::string_view key) {
  const toml::node* node = find(key);
  if (node == nullptr) return std::nullopt;
  const Place at = place_of(node->source());
  if (const auto* value = node->as_floating_point()) return {{value->get(), at}};
  if (const auto* value = node->as_integer()) return {{static_cast<double>(value->get()), at}};
  wrong_type(*node, path_of(key), "a number");
  return std::nullopt;
}

Maybe<bool> TableReader::boolean(std::string_view key) {
  const toml::node* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (const auto* value = node->as_boolean()) return {{value->get(), place_of(node->source())}};
  wrong_type(*node, path_of(key), "true or false");
  return std::nullopt;
}

Maybe<IdText> TableReader::id(std::string_view key) {
  const toml::node* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (auto value = id_of(*node)) return {{std::move(*value), place_of(node->source())}};
  wrong_type(*node, path_of(key), "a name in quotes, or a number");
  return std::nullopt;
}

const toml::array* TableReader::array(std::string_view key, std::string_view allowed) {
  const toml::node* node = find(key);
  if (node == nullptr) return nullptr;
  if (const auto* array = node->as_array()) return array;
  wrong_type(*node, path_of(key), allowed);
  return nullptr;
}

Maybe<TextList> TableReader::located_texts(std::string_view key) {
  const toml::array* values = array(key, "an array of strings");
  if (values == nullptr) return std::nullopt;
  Located<TextList> list{{}, place_of(values->source())};
  for (const toml::node& node : *values) {
    if (const auto* text = node.as_string()) {
      list.value.push_back({text->get(), place_of(node.source())});
    } else {
      wrong_type(node, path_of(key), "an array of strings");
    }
  }
  return list;
}

TextList TableReader::texts(std::string_view key) {
  auto list = located_texts(key);
  return list ? std::move(list->value) : TextList{};
}

IdList TableReader::ids(std::string_view key) {
  auto list = located_ids(key);
  return list ? std::move(list->value) : IdList{};
}

Maybe<IdList> TableReader::located_ids(std::string_view key) {
  constexpr std::string_view allowed = "an array of names in quotes, or numbers";
  const toml::array* values = array(key, allowed);
  if (values == nullptr) return std::nullopt;
  Located<IdList> list{{}, place_of(values->source())};
  for (const toml::node& node : *values) {
    if (auto id = id_of(node)) {
      list.value.push_back({std::move(*id), place_of(node.source())});
    } else {
      wrong_type(node, path_of(key), allowed);
    }
  }
  return list;
}

Maybe<ScalarText> TableReader::scalar(std::string_view key) {
  const toml::node* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (auto value = scalar_of(*node)) return {{std::move(*value), place_of(node->source())}};
  wrong_type(*node, path_of(key), scalar_types);
  return std::nullopt;
}

Maybe<ScalarList> TableReader::scalars(std::string_view key) {
  const toml::array* values = array(key, "an array");
  if (values == nullptr) return std::nullopt;
  Located<ScalarList> list{{}, place_of(values->source())};
  for (const toml::node& node : *values) {
    if (auto value = scalar_of(node)) {
      list.value.push_back({std::move(*value), place_of(node.source())});
    } else {
      wrong_type(node, path_of(key), scalar_types);
    }
  }
  return list;
}

std::vector<VariableText> TableReader::variables(std::string_view key) {
  auto variables = table(key);
  if (!variables) return {};
  std::vector<VariableText> list;
  for (TextAt& name : variables->names()) {
    auto value = variables->text(name.value);
    if (value) list.push_back({std::move(name), std::move(*value)});
  }
  return list;
}

std::optional<TableReader> TableReader::table(std::string_view key) {
  const toml::node* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (const auto* table = node->as_table()) {
    return TableReader(*table, file_, path_of(key) + ".", *complaints_);
  }
  wrong_type(*node, path_of(key), "a table");
  return std::nullopt;
}

TextOrTable TableReader::text_or_table(std::string_view key) {
  const toml::node* node = table_->get(key);
  const bool is_table = node != nullptr && node->is_table();
  if (is_table) return {.text = std::nullopt, .table = table(key)};
  return {.text = text(key), .table = std::nullopt};
}

bool TableReader::holds_table(std::string_view key) const {
  const toml::node* node = table_->get(key);
  return node != nullptr && node->is_table();
}

std::vector<TableReader> TableReader::tables(std::string_view key, EntryName names) {
  constexpr std::string_view allowed = "an array of tables";
  const toml::array* values = array(key, allowed);
  if (values == nullptr) return {};
  std::vector<TableReader> readers;
  for (const toml::node& node : *values) {
    if (const auto* table = node.as_table()) {
      const auto number =
          names == EntryName::numbered ? fmt::format("[{}]", readers.size() + 1) : std::string();
      readers.emplace_back(*table, file_, path_of(key) + number + ".", *complaints_);
    } else {
      wrong_type(node, path_of(key), allowed);
    }
  }
  return readers;
}

std::vector<TextAt> TableReader::names() {
  keys_ = Keys::free;
  std::vector<TextAt> names;
  for (const auto& [key, node] : *table_) {
    names.push_back({std::string(key.str()), place_of(key.source())});
  }
  return names;
}

void TableReader::refuse(std::string_view key, std::string text) {
  const toml::node* node = table_->get(key);
  if (node == nullptr) return;
  refused_.emplace_back(key);
  complaints_->error(file_, place_of(node->source()), path_of(key), std::move(text));
}

void TableReader::complain_about_unknown_keys() {
  if (keys_ == Keys::free) return;
  const std::vector<std::string_view> known(asked_.begin(), asked_.end());
  for (const auto& [key, node] : *table_) {
    if (std::ranges::find(known, key.str()) != known.end()) continue;
    if (std::ranges::find(refused_, key.str()) != refused_.end()) continue;
    const std::string_view guess = nearest(key.str(), known);
    std::string text = "unknown key";
    if (!guess.empty()) text += fmt::format("; did you mean \"{}\"?", guess);
    text += fmt::format("; allowed: {}", fmt::join(known, ", "));
    complaints_->error(file_, place_of(key.source()), path_of(key.str()), std::move(text));
  }
}

}  // namespace cellblock
