#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "policy/config/result_rules.h"
#include "policy/untrusted/untrusted_text.h"

/// A server's result as its host gets it, its strings marked or stripped (untrusted_text.h). Builds
/// no tree. Pure.
namespace cellblock {

/// Where a result says what was done to it.
enum class MarkNote : std::uint8_t {
  content,  ///< of a tool's call: a text after its content, and in `_meta`
  meta,     ///< of a resource or a prompt, whose texts are taken as they are, and of a task
  none,     ///< of an error
};

struct MarkRules {
  UntrustedText how = UntrustedText::pass;
  MarkNote note{};
  /// Gets each text out of which something was taken, since what it is now nobody has looked at,
  /// and returns what takes its place. Empty: it stays.
  std::function<std::string(std::string_view)> look_again{};
};

struct MarkedResult {
  std::string json;
  MarkCounts counts;
};

/// `json`: validated; every string and key is searched. `strip` strips `text`, an error's `message`
/// and, of a tool's call, `structuredContent`. It marks every other string: a stripped one could
/// become another word of the protocol. Where two names of members would become one, the marked
/// ones get numbers. nullopt: nothing was found, or the rules are `pass`.
std::optional<MarkedResult> marked_result(std::string_view json, const MarkRules& rules);

/// "2 invisible characters, 1 token of a chat template".
std::string counts_sentence(const MarkCounts& counts);

}  // namespace cellblock
