#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "policy/jsonrpc/jsonrpc.h"
#include "policy/jsonrpc/message_edit.h"

namespace cellblock::gateway {

/// What stands in a part of the line once all that is to be done to it is done.
class EditedPart {
 public:
  EditedPart(std::string_view line, Span where, const std::vector<Replacement>& edits);
  EditedPart(const EditedPart&) = delete;
  EditedPart& operator=(const EditedPart&) = delete;

  /// Else it must be left as it is, edits and all: with them the whole line does not go out.
  bool is_sound() const { return is_sound_; }
  std::string_view text() const { return text_; }

 private:
  std::string written_;
  std::string_view text_;
  bool is_sound_ = true;
};

/// The size of such a part, in bytes, if it is sound.
std::size_t edited_size(Span where, const std::vector<Replacement>& edits);

/// Puts one edit of the part in place of those that are in it.
void replace_part(Span where, std::string text, std::vector<Replacement>& edits);

}  // namespace cellblock::gateway
