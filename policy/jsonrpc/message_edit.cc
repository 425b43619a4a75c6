#include "policy/jsonrpc/message_edit.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace cellblock {
namespace {

constexpr std::string_view newline = "\n";

std::string_view without_carriage_return(std::string_view line) {
  return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
}

// Of two that begin at one place what is put in comes first, and then what takes more away.
std::tuple<std::uint32_t, bool, std::uint32_t> place_of(const Replacement& edit) {
  return {edit.where.begin, !edit.where.empty(), ~edit.where.end};
}

}  // namespace

EditedMessage::EditedMessage(std::string_view line, std::vector<Replacement> edits)
    : edits_(std::move(edits)) {
  line = without_carriage_return(line);
  std::ranges::sort(edits_, {}, place_of);
  slices_.reserve(2 * edits_.size() + 2);
  std::size_t done = 0;
  for (const Replacement& edit : edits_) {
    if (edit.where.begin < done || edit.where.end < edit.where.begin ||
        edit.where.end > line.size()) {
      is_sound_ = false;
      continue;
    }
    add(line.substr(done, edit.where.begin - done));
    add(edit.text);
    done = edit.where.end;
  }
  add(line.substr(done));
  add(newline);
}

void EditedMessage::add(std::string_view slice) {
  if (slice.empty()) return;
  slices_.push_back(slice);
  size_ += slice.size();
}

std::string EditedMessage::flatten() const {
  std::string text;
  text.reserve(size_);
  for (const std::string_view slice : slices_) text += slice;
  return text;
}

namespace {

/// An element goes with the comma before it once something before it stays, else with the comma
/// after it.
Span with_its_comma(const std::vector<ListedTool>& tools, std::size_t index, bool first) {
  const Span element = tools[index].element;
  if (!first) return {tools[index - 1].element.end, element.end};
  if (index + 1 < tools.size()) return {element.begin, tools[index + 1].element.begin};
  return element;
}

}  // namespace

std::vector<Replacement> leave_out(const std::vector<ListedTool>& tools,
                                   const std::vector<bool>& kept) {
  std::vector<Replacement> edits;
  bool first = true;
  for (std::size_t i = 0; i < tools.size(); ++i) {
    if (kept[i]) {
      first = false;
      continue;
    }
    const Span gone = with_its_comma(tools, i, first);
    if (!edits.empty() && edits.back().where.end == gone.begin) {
      edits.back().where.end = gone.end;
    } else {
      edits.push_back({gone, ""});
    }
  }
  return edits;
}

}  // namespace cellblock
