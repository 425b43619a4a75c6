#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "policy/jsonrpc.h"

/// A validated line with some spans replaced, as slices for writev: what did not change is sent
/// from where it was read.
namespace cellblock {

struct Replacement {
  Span where;
  std::string text;  ///< may be empty: the span is left out
};

class EditedMessage {
 public:
  /// `line` and the edits' texts must outlive this object's use. Spans must not overlap; they need
  /// not be in order. A newline is added at the end.
  EditedMessage(std::string_view line, std::vector<Replacement> edits);

  const std::vector<std::string_view>& slices() const { return slices_; }
  std::size_t size() const { return size_; }
  std::string flatten() const;

 private:
  std::vector<Replacement> edits_;
  std::vector<std::string_view> slices_;
  std::size_t size_ = 0;
};

/// The spans to leave out (commas included) so that `result.tools` keeps only the tools for which
/// `keep` says true.
template <class Keep>
std::vector<Replacement> narrow_tools(std::string_view line, const Message& message, Keep&& keep);

}  // namespace cellblock
