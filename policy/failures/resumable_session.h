#pragma once

#include <array>
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

/// How the memory is laid out. Each part has two places: the one that counts, and the one that is
/// written next. A part is replaced by one store of `current`, so a reader finds the old one or the
/// new one, whenever the writer is killed.
namespace journal {

inline constexpr std::uint32_t begun_mark = 0x4a42'4c01;  ///< changes with the layout
inline constexpr std::uint32_t too_long = UINT32_MAX;     ///< as a length: it did not fit

enum class Part : std::uint8_t { memory, calls, input };
inline constexpr std::array<std::size_t, 3> part_bytes = {320U << 10, 64U << 10, 128U << 10};

struct PartHead {
  std::uint32_t current;
  std::array<std::uint32_t, 2> length;
};

struct Head {
  std::uint32_t begun;           ///< begun_mark: it counts
  std::uint32_t partial_output;  ///< 1: the last line to the host was not written to its end
  std::array<PartHead, 3> parts;
};

constexpr std::size_t index_of(Part part) { return static_cast<std::size_t>(part); }
/// The offset of the part's place 0 or 1, in bytes from the beginning.
std::size_t place_of(Part part, std::uint32_t which);

/// Part::calls.
std::string text_of(const std::vector<JournalledCall>& calls);
/// What Part::input begins with: lines of it may be carried out, or are for later.
inline constexpr char taken_mark = 't';
inline constexpr char later_mark = 'l';

}  // namespace journal

struct JournalContent {
  std::optional<std::string> memory;  ///< raw JSON; nullopt: the session cannot go on
  std::vector<JournalledCall> calls;
  std::string taken;   ///< whole lines: what they asked may have been carried out
  std::string unread;  ///< no server has received it
  bool is_input_lost = false;
  bool is_output_partial = false;
};

/// nullopt: no gateway has begun with it, or it makes no sense.
std::optional<JournalContent> read_journal(std::span<const char> memory);

}  // namespace cellblock
