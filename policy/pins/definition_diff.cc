#include "policy/pins/definition_diff.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "policy/base/printable.h"

namespace cellblock {
namespace {

using Json = nlohmann::json;
using Lines = std::vector<std::string>;
using Side = DiffLine::Side;

constexpr std::size_t longest_line = 4'096;
constexpr std::size_t most_lines = 20'000;     // of one definition
constexpr std::size_t most_cells = 4'000'000;  // of the table below: 4 MB
constexpr std::size_t context = 2;

void add(Lines& lines, std::size_t indent, const std::string& text) {
  if (lines.size() < most_lines) {
    lines.push_back(std::string(indent, ' ') + printable(text, longest_line));
  }
}

std::string plain(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void add_text(Lines& lines, std::size_t indent, const std::string& label, std::string_view text) {
  if (text.find('\n') == std::string_view::npos) {
    return add(lines, indent, label + std::string(text));
  }
  add(lines, indent, label);
  while (true) {
    const auto end = text.find('\n');
    add(lines, indent + 2, std::string(text.substr(0, end)));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

void add_value(Lines& lines, std::size_t indent, const std::string& label, const Json& value);

void add_members(Lines& lines, std::size_t indent, const Json& value) {
  for (const auto& [key, inner] : value.items()) {
    const std::string label = value.is_object() ? key + ": " : "- ";
    add_value(lines, indent, label, inner);
  }
}

bool is_plain_array(const Json& value) {
  return value.is_array() &&
         std::ranges::none_of(value, [](const Json& one) { return one.is_structured(); });
}

void add_value(Lines& lines, std::size_t indent, const std::string& label, const Json& value) {
  if (value.is_string()) return add_text(lines, indent, label, value.get_ref<const std::string&>());
  if (!value.is_structured() || value.empty() || is_plain_array(value)) {
    return add(lines, indent, label + plain(value));
  }
  add(lines, indent, label);
  add_members(lines, indent + 2, value);
}

Lines lines_of(std::string_view definition) {
  Lines lines;
  if (definition.empty()) return lines;
  const Json json = Json::parse(definition, nullptr, false);
  if (json.is_object()) add_members(lines, 0, json);
  return lines;
}

/// Longest common subsequence of what is between the common beginning and end; where that would
/// take too much, all of the one and then all of the other.
class Differ {
 public:
  Differ(const Lines& was, const Lines& is) : was_(was), is_(is) {}

  std::vector<DiffLine> lines() {
    std::size_t head = 0;
    while (head < was_.size() && head < is_.size() && was_[head] == is_[head]) ++head;
    std::size_t tail = 0;
    while (tail < was_.size() - head && tail < is_.size() - head &&
           was_[was_.size() - 1 - tail] == is_[is_.size() - 1 - tail]) {
      ++tail;
    }
    for (std::size_t i = 0; i < head; ++i) put(Side::both, was_[i]);
    middle(head, was_.size() - tail, is_.size() - tail);
    for (std::size_t i = was_.size() - tail; i < was_.size(); ++i) put(Side::both, was_[i]);
    return std::move(out_);
  }

 private:
  void put(Side side, const std::string& text) { out_.push_back({side, text}); }

  void middle(std::size_t head, std::size_t was_end, std::size_t is_end) {
    const std::size_t rows = was_end - head;
    const std::size_t columns = is_end - head;
    if ((rows + 1) * (columns + 1) > most_cells) return whole(head, was_end, is_end);
    std::vector<std::uint16_t> table((rows + 1) * (columns + 1), 0);
    const auto at = [&](std::size_t i, std::size_t j) -> std::uint16_t& {
      return table[i * (columns + 1) + j];
    };
    for (std::size_t i = rows; i-- > 0;) {
      for (std::size_t j = columns; j-- > 0;) {
        at(i, j) = was_[head + i] == is_[head + j]
                       ? static_cast<std::uint16_t>(at(i + 1, j + 1) + 1)
                       : std::max(at(i + 1, j), at(i, j + 1));
      }
    }
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < rows && j < columns) {
      if (was_[head + i] == is_[head + j]) {
        put(Side::both, was_[head + i]), ++i, ++j;
      } else if (at(i + 1, j) >= at(i, j + 1)) {
        put(Side::was, was_[head + i++]);
      } else {
        put(Side::is, is_[head + j++]);
      }
    }
    for (; i < rows; ++i) put(Side::was, was_[head + i]);
    for (; j < columns; ++j) put(Side::is, is_[head + j]);
  }

  void whole(std::size_t head, std::size_t was_end, std::size_t is_end) {
    for (std::size_t i = head; i < was_end; ++i) put(Side::was, was_[i]);
    for (std::size_t i = head; i < is_end; ++i) put(Side::is, is_[i]);
  }

  const Lines& was_;
  const Lines& is_;
  std::vector<DiffLine> out_;
};

bool is_near_difference(const std::vector<DiffLine>& lines, std::size_t at) {
  const std::size_t first = at - std::min(at, context);
  const std::size_t last = std::min(lines.size(), at + context + 1);
  return std::any_of(lines.begin() + static_cast<std::ptrdiff_t>(first),
                     lines.begin() + static_cast<std::ptrdiff_t>(last),
                     [](const DiffLine& line) { return line.side != Side::both; });
}

std::vector<DiffLine> shortened(const std::vector<DiffLine>& lines, std::size_t most) {
  std::vector<DiffLine> kept;
  const DiffLine gap{Side::both, "…"};
  for (std::size_t i = 0; i < lines.size() && kept.size() < most; ++i) {
    if (is_near_difference(lines, i)) {
      kept.push_back(lines[i]);
    } else if (kept.empty() || kept.back() != gap) {
      kept.push_back(gap);
    }
  }
  return kept;
}

}  // namespace

std::vector<DiffLine> definition_diff(std::string_view was, std::string_view is, std::size_t most) {
  const Lines before = lines_of(was);
  const Lines after = lines_of(is);
  return shortened(Differ(before, after).lines(), most);
}

}  // namespace cellblock
