#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "policy/redaction/json_tokens.h"
#include "policy/redaction/redactor.h"
#include "policy/redaction/secret_marks.h"
#include "tests/fuzz/check.h"

namespace {

using namespace cellblock;  // NOLINT(google-build-using-namespace)

const std::string secret = "hunter2 \"and\" more\\of it";

const Redactor& redactor() {
  static const Redactor made = [] {
    RedactionRules rules;
    for (const Detector* detector : all_detectors()) {
      rules.detectors.push_back(
          {std::string(detector->name), {RedactionAction::redact, RedactionAction::redact}});
    }
    rules.expressions.push_back(
        {"own", "a[^b]*b|a", {RedactionAction::off, RedactionAction::redact}});
    Redactor::Scanners scanners;
    const SecretMarks marks = mark_secrets(std::vector<std::string>{secret}, {7, 7, 7});
    return *Redactor::make({rules, marks, {"TOKEN"}}, scanners);
  }();
  return made;
}

void check_plain(std::string_view text) {
  FoundCounts found;
  const std::string cleaned = redactor().of_text(Direction::to_host, text, found);
  CELLBLOCK_FUZZ_CHECK(!cleaned.contains(secret));
  CELLBLOCK_FUZZ_CHECK(!found.empty() || cleaned == text);
}

void check_message(std::string_view text) {
  std::string padded(text);
  padded.resize(text.size() + MessageScanner::padding);
  const std::string_view line = std::string_view(padded).substr(0, text.size());
  const auto message = MessageScanner().scan(line);
  if (!message) return;
  const Redaction made = redactor().of_message(Direction::to_host, line, *message, {});
  const EditedMessage edited(line, made.edits);
  CELLBLOCK_FUZZ_CHECK(edited.is_sound());
  std::string again = edited.flatten();
  const std::size_t size = again.size() - 1;
  again.resize(size + MessageScanner::padding);
  // Keys that become longer ones may be the same as others that were there.
  const auto read = MessageScanner().scan(std::string_view(again).substr(0, size));
  CELLBLOCK_FUZZ_CHECK(read || read.error().fault == MessageFault::duplicate_key);
}

}  // namespace

/// Any text, as it is, as JSON and as a message: nothing of the secret is left, a message stays
/// one.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  check_plain(text);
  check_message(text);
  static_cast<void>(redactor().of_json(Direction::to_host, text, "nextCursor"));
  JsonTokens tokens(text);
  JsonToken token;
  for (std::size_t last = 0; tokens.next(token); last = token.where.end) {
    CELLBLOCK_FUZZ_CHECK(token.where.begin >= last && token.where.end >= token.where.begin);
    CELLBLOCK_FUZZ_CHECK(token.where.end <= text.size());
  }
  return 0;
}
