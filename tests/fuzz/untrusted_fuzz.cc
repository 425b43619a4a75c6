#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "policy/base/chat_tokens.h"
#include "policy/base/printable.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "policy/untrusted/untrusted_result.h"
#include "tests/fuzz/check.h"

namespace {

using namespace cellblock;  // NOLINT(google-build-using-namespace)

constexpr std::size_t largest_growth = 9;

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = first_code_point(text).length;
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

// Nothing is left to be marked, and a text does not grow without bound.
void check_text(std::string_view text, UntrustedText how) {
  MarkCounts counts;
  const auto marked = marked_text(text, how, counts);
  CELLBLOCK_FUZZ_CHECK(marked.has_value() == counts.any());
  if (!marked) return;
  CELLBLOCK_FUZZ_CHECK(marked->size() <= text.size() * largest_growth);
  CELLBLOCK_FUZZ_CHECK(how == UntrustedText::mark || marked->size() < text.size());
  CELLBLOCK_FUZZ_CHECK(!first_chat_token(*marked));
  MarkCounts again;
  CELLBLOCK_FUZZ_CHECK(!marked_text(*marked, how, again));
}

// What was a result is one, as another reader reads it.
void check_result(std::string_view result, UntrustedText how, MarkNote note) {
  const auto marked = marked_result(result, {.how = how, .note = note});
  if (!marked) return;
  CELLBLOCK_FUZZ_CHECK(marked->counts.any());
  CELLBLOCK_FUZZ_CHECK(!marked_result(marked->json, {.how = how, .note = note}));
  std::string line = R"({"jsonrpc":"2.0","id":1,"result":)" + marked->json + "}";
  const std::size_t size = line.size();
  line.resize(size + MessageScanner::padding);
  CELLBLOCK_FUZZ_CHECK(MessageScanner().scan(std::string_view(line).substr(0, size)));
}

void check_message(std::string_view text, UntrustedText how) {
  std::string padded(text);
  padded.resize(text.size() + MessageScanner::padding);
  const std::string_view line = std::string_view(padded).substr(0, text.size());
  const auto message = MessageScanner().scan(line);
  if (!message || message->result.empty()) return;
  for (const MarkNote note : {MarkNote::content, MarkNote::meta, MarkNote::none}) {
    check_result(message->result.in(line), how, note);
  }
}

}  // namespace

/// Any text, as it is and as a message: what was marked has nothing left to mark, and a result
/// stays one.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const UntrustedText how : {UntrustedText::mark, UntrustedText::strip}) {
    if (is_utf8(text)) check_text(text, how);
    check_message(text, how);
  }
  return 0;
}
