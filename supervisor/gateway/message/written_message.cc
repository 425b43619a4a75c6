#include "supervisor/gateway/message/written_message.h"

#include <utility>

namespace cellblock::gateway {
namespace {

std::string padded(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  text.resize(text.size() + MessageScanner::padding);
  return text;
}

}  // namespace

WrittenMessage::WrittenMessage(MessageScanner& scanner, std::string text)
    : text_(padded(std::move(text))), message_(scanner.scan(line())) {}

std::string_view WrittenMessage::line() const {
  return std::string_view(text_).substr(0, text_.size() - MessageScanner::padding);
}

std::string joined(Slices message) {
  std::string text;
  for (const std::string_view slice : message) text += slice;
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace cellblock::gateway
