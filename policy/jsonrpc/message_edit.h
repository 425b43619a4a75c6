#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "policy/jsonrpc/jsonrpc.h"

/// A validated line with some spans replaced, as slices for writev: what did not change is sent
/// from where it was read.
namespace cellblock {

struct Replacement {
  Span where;
  std::string text;  ///< may be empty: the span is left out

  bool operator==(const Replacement&) const = default;
};

class EditedMessage {
 public:
  /// `line` must outlive this object's use. Spans must not overlap (is_sound()); they need not be
  /// in order. A '\r' at the end of the line is dropped and a newline is added.
  EditedMessage(std::string_view line, std::vector<Replacement> edits);

  // The slices point into edits_: a move keeps its elements where they are, a copy would not.
  EditedMessage(EditedMessage&&) noexcept = default;
  EditedMessage& operator=(EditedMessage&&) noexcept = default;
  EditedMessage(const EditedMessage&) = delete;
  EditedMessage& operator=(const EditedMessage&) = delete;
  ~EditedMessage() = default;

  /// False: spans overlapped or left the line, and of two the outer or earlier one was taken. Who
  /// edits what a peer chose asks this before anything is sent.
  bool is_sound() const { return is_sound_; }

  /// None is empty. There may be more than IOV_MAX of them.
  const std::vector<std::string_view>& slices() const { return slices_; }
  std::size_t size() const { return size_; }  ///< of all slices, in bytes
  std::string flatten() const;

 private:
  void add(std::string_view slice);

  std::vector<Replacement> edits_;
  std::vector<std::string_view> slices_;
  std::size_t size_ = 0;
  bool is_sound_ = true;
};

/// What to leave out of `result.tools` for a list with only the elements where `kept` is true, in
/// their order; commas included. Spans do not overlap and are in order.
std::vector<Replacement> leave_out(const std::vector<ListedTool>& tools,
                                   const std::vector<bool>& kept);

/// The same with a question: `keep(std::string_view name) -> bool`. An element without a name has
/// the empty one.
template <class Keep>
std::vector<Replacement> narrow_tools(std::string_view /*line*/, const Message& message,
                                      Keep&& keep) {
  std::vector<bool> kept;
  kept.reserve(message.tools.size());
  for (const ListedTool& tool : message.tools) {
    kept.push_back(keep(std::string_view{tool.name}));
  }
  return leave_out(message.tools, kept);
}

}  // namespace cellblock
