#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "policy/config/result_rules.h"
#include "policy/untrusted/untrusted_text.h"

/// A server's result as its host gets it, with what its texts have for a model alone made visible
/// or taken out. No tree is built. Pure.
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

/// `json`: validated. All strings and keys in it are looked at. `strip` takes something out only of
/// `text`, of an error's `message` and, of a tool's call, of what is in `structuredContent`;
/// elsewhere it marks, so that what the protocol reads never becomes another word of it. Where two
/// names of members would become one, the marked ones have numbers. nullopt: nothing was found, or
/// nothing is looked for.
std::optional<MarkedResult> marked_result(std::string_view json, const MarkRules& rules);

/// "2 invisible characters, 1 token of a chat template".
std::string counts_sentence(const MarkCounts& counts);

}  // namespace cellblock
