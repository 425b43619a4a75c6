#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/jsonrpc/jsonrpc.h"
#include "policy/jsonrpc/message_edit.h"
#include "tests/fuzz/check.h"

namespace {

using cellblock::EditedMessage;
using cellblock::Message;
using cellblock::MessageScanner;

std::string padded(std::string_view line) {
  return std::string{line} + std::string(MessageScanner::padding, '}');
}

/// With a new id and some tools left out it is still a message, of the same kind.
void check_edits(const Message& message, std::string_view line, unsigned choice) {
  static MessageScanner scanner;
  std::size_t kept = 0;
  std::size_t asked = 0;
  auto edits = cellblock::narrow_tools(line, message, [&](std::string_view) {
    const bool keep = (choice >> (asked++ % 8) & 1U) != 0;
    kept += keep ? 1 : 0;
    return keep;
  });
  if (!message.id.empty()) edits.push_back({message.id, "4711"});
  const EditedMessage edited(line, std::move(edits));
  const std::string text = edited.flatten();
  CELLBLOCK_FUZZ_CHECK(text.size() == edited.size() && text.back() == '\n');
  const std::string again = padded(std::string_view{text}.substr(0, text.size() - 1));
  const auto scanned = scanner.scan(std::string_view{again}.substr(0, text.size() - 1));
  CELLBLOCK_FUZZ_CHECK(scanned.has_value() && scanned->kind == message.kind);
  CELLBLOCK_FUZZ_CHECK(scanned->tools.size() == kept);
  CELLBLOCK_FUZZ_CHECK(message.id.empty() || scanned->id.in(text) == "4711");
}

}  // namespace

/// The first byte chooses which tools stay.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static MessageScanner scanner;
  if (size == 0) return 0;
  const std::string buffer = padded({reinterpret_cast<const char*>(data) + 1, size - 1});
  const auto line = std::string_view{buffer}.substr(0, size - 1);
  const auto scanned = scanner.scan(line);
  if (scanned.has_value()) check_edits(*scanned, line, data[0]);
  return 0;
}
