#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "policy/jsonrpc/jsonrpc.h"
#include "policy/jsonrpc/message_edit.h"

namespace cellblock::gateway {

/// A part of the line with the edits inside it applied.
class EditedPart {
 public:
  EditedPart(std::string_view line, Span where, const std::vector<Replacement>& edits);
  EditedPart(const EditedPart&) = delete;
  EditedPart& operator=(const EditedPart&) = delete;

  /// False: its edits overlap. Leave them as they are: the whole line is not sent then.
  bool is_sound() const { return is_sound_; }
  std::string_view text() const { return text_; }

 private:
  std::string written_;
  std::string_view text_;
  bool is_sound_ = true;
};

/// The size of an EditedPart in bytes, if it is sound.
std::size_t edited_size(Span where, const std::vector<Replacement>& edits);

/// Replaces the edits inside the part by one edit of the whole part.
void replace_part(Span where, std::string text, std::vector<Replacement>& edits);

}  // namespace cellblock::gateway
