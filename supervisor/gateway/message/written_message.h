#pragma once

#include <expected>
#include <span>
#include <string>
#include <string_view>

#include "policy/jsonrpc/jsonrpc.h"

/// Messages as they are sent: in pieces, or read again before they are.
namespace cellblock::gateway {

/// Pieces of one message, newline included. They point into the line that was handed in and into
/// the edits, so they are gone when the call returns.
using Slices = std::span<const std::string_view>;

/// A message that cellblock wrote, with or without its newline, parsed like a peer's. Its line has
/// no newline; the sender adds one. If a bridge has nested it more deeply than the scanner reads,
/// there is no message.
class WrittenMessage {
 public:
  WrittenMessage(MessageScanner& scanner, std::string text);
  WrittenMessage(const WrittenMessage&) = delete;
  WrittenMessage& operator=(const WrittenMessage&) = delete;

  std::string_view line() const;
  const std::expected<Message, Refused>& message() const { return message_; }

 private:
  std::string text_;  ///< and the scanner's padding
  std::expected<Message, Refused> message_;
};

/// The text of a whole message, without its newline.
std::string joined(Slices message);

}  // namespace cellblock::gateway
