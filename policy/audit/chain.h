#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "policy/audit/log_words.h"
#include "policy/audit/sealed_line.h"
#include "policy/encoding/sha256.h"

/// The chain of the audit log, and the names of its files. A line is `BODY,"hash":"H"}`, where BODY
/// begins with `{"seq":N` and H is the SHA-256 over the former line's hash (32 bytes) and BODY: a
/// line that is changed, removed or inserted breaks the chain for all later ones. Pure.
namespace cellblock::audit {

/// The files of one log are written in turn: PATH, PATH.1, PATH.2 and so on, and again from PATH.
inline std::string log_file_name(const std::string& path, std::uint32_t index) {
  return index == 0 ? path : path + "." + std::to_string(index);
}

/// What the next line is chained to.
struct ChainPoint {
  std::uint64_t sequence = 0;  ///< of the last line; 0: there is none
  Sha256 hash{};               ///< of the last line; zeros: there is none
  bool operator==(const ChainPoint&) const = default;
};

Sha256 chained(const Sha256& former, std::string_view body);

/// The next line, with its newline; `at` moves on to it. `fields` begins with a comma, or is empty.
std::string seal(std::string_view fields, ChainPoint& at);

/// The end of one file of the log.
struct LogEnd {
  /// The last whole line, its newline perhaps missing; nothing: there is none.
  std::optional<ChainPoint> last;
  std::string_view torn;  ///< what comes after it, or all
};

/// `tail` is the end of the file, or all of it.
LogEnd log_end(std::string_view tail);

}  // namespace cellblock::audit
