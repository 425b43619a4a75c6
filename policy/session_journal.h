#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What a gateway notes of a session over handed stdio in memory that the bridge has given it: who
/// still waits for an answer, and what the next gateway has to know. Read when the gateway has died
/// without a word. Layout and values; the memory is mapped elsewhere.
namespace cellblock {

inline constexpr std::size_t session_journal_bytes = (1U << 20) + 4096;

enum class CallShape : std::uint8_t {
  request,      ///< its failure is a JSON-RPC error
  legacy_tool,  ///< tools/call: its failure is a result with isError
  modern_tool,
};

struct JournalledCall {
  std::string id;  ///< raw JSON, the host's
  CallShape shape{};
  bool operator==(const JournalledCall&) const = default;
};

/// The gateway's side. Each part is replaced as a whole: a reader finds the old one or the new one,
/// whenever the writer is killed. What does not fit is marked as too long.
class JournalWriter {
 public:
  /// `memory`: session_journal_bytes, zero; outlives it.
  explicit JournalWriter(std::span<char> memory);
  /// From now on it counts.
  void begin();

  /// nullopt: the session cannot go on elsewhere.
  void set_memory(const std::optional<std::string>& json);
  void set_calls(const std::vector<JournalledCall>& calls);
  /// What was read of the host. `is_taken`: its whole lines may be carried out now; else they are
  /// for later. nullopt: too long to be kept.
  void set_input(std::optional<std::string_view> bytes, bool is_taken);
  /// The last line to the host has not been written to its end.
  void set_partial_output(bool is_partial);

 private:
  std::span<char> memory_;
};

struct JournalContent {
  std::optional<std::string> memory;  ///< raw JSON; nullopt: the session cannot go on
  std::vector<JournalledCall> calls;
  std::string taken;   ///< whole lines: what they asked may have been carried out
  std::string unread;  ///< nobody has begun with it
  bool is_input_lost = false;
  bool is_output_partial = false;
};

/// nullopt: no gateway has begun with it, or it makes no sense.
std::optional<JournalContent> read_journal(std::span<const char> memory);

}  // namespace cellblock
