#include "supervisor/gateway/checks/edited_part.h"

#include <utility>

namespace cellblock::gateway {
namespace {

bool is_within(Span inner, Span outer) {
  return inner.begin >= outer.begin && inner.end <= outer.end;
}

}  // namespace

EditedPart::EditedPart(std::string_view line, Span where, const std::vector<Replacement>& edits) {
  std::vector<Replacement> inside;
  for (const Replacement& edit : edits) {
    if (!is_within(edit.where, where)) continue;
    inside.push_back({{edit.where.begin - where.begin, edit.where.end - where.begin}, edit.text});
  }
  text_ = where.in(line);
  if (inside.empty()) return;
  const EditedMessage edited(text_, std::move(inside));
  is_sound_ = edited.is_sound();
  if (!is_sound_) return;
  written_ = edited.flatten();
  written_.pop_back();  // the newline
  text_ = written_;
}

std::size_t edited_size(Span where, const std::vector<Replacement>& edits) {
  std::size_t size = where.end - where.begin;
  std::size_t replaced = 0;
  for (const Replacement& edit : edits) {
    if (!is_within(edit.where, where)) continue;
    size += edit.text.size();
    replaced += edit.where.end - edit.where.begin;
  }
  return size < replaced ? size : size - replaced;  // less only where they overlap
}

void replace_part(Span where, std::string text, std::vector<Replacement>& edits) {
  std::erase_if(edits, [&](const Replacement& edit) { return is_within(edit.where, where); });
  edits.push_back({where, std::move(text)});
}

}  // namespace cellblock::gateway
