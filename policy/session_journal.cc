#include "policy/session_journal.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <new>

namespace cellblock {
namespace {

constexpr std::uint32_t begun_mark = 0x4a42'4c01;  // changes with the layout
constexpr std::uint32_t too_long = UINT32_MAX;

enum class Part : std::uint8_t { memory, calls, input };
constexpr std::array<std::size_t, 3> part_bytes = {320U << 10, 64U << 10, 128U << 10};

/// Each part has two places: the one that counts, and the one that is written next.
struct PartHead {
  std::uint32_t current;
  std::array<std::uint32_t, 2> length;
};

struct Head {
  std::uint32_t begun;
  std::uint32_t partial_output;
  std::array<PartHead, 3> parts;
};

constexpr std::size_t first_part = 4096;
static_assert(sizeof(Head) <= first_part);
static_assert(first_part + (2 * (part_bytes[0] + part_bytes[1] + part_bytes[2])) <=
              session_journal_bytes);

constexpr std::size_t index_of(Part part) { return static_cast<std::size_t>(part); }

std::size_t place_of(Part part, std::uint32_t which) {
  std::size_t place = first_part;
  for (std::size_t i = 0; i < index_of(part); ++i) place += 2 * part_bytes.at(i);
  return place + (which * part_bytes.at(index_of(part)));
}

Head& head_of(std::span<char> memory) {
  return *std::launder(reinterpret_cast<Head*>(memory.data()));  // NOLINT(*-reinterpret-cast)
}

void store(std::uint32_t& number, std::uint32_t value) {
  std::atomic_ref(number).store(value, std::memory_order_release);
}

void put(std::span<char> memory, Part part, std::string_view mark,
         std::optional<std::string_view> bytes) {
  PartHead& head = head_of(memory).parts.at(index_of(part));
  const std::uint32_t next = head.current == 0 ? 1 : 0;
  const bool fits = bytes && mark.size() + bytes->size() <= part_bytes.at(index_of(part));
  if (fits) {
    char* const place = memory.data() + place_of(part, next);
    std::ranges::copy(mark, place);
    std::ranges::copy(*bytes, place + mark.size());
  }
  const std::size_t length = fits ? mark.size() + bytes->size() : too_long;
  store(head.length.at(next), static_cast<std::uint32_t>(length));
  store(head.current, next);
}

/// nullopt: it did not fit, or it makes no sense.
std::optional<std::string_view> part_of(std::span<const char> memory, const Head& head, Part part) {
  const PartHead& own = head.parts.at(index_of(part));
  const std::uint32_t which = own.current == 0 ? 0 : 1;
  const std::uint32_t length = own.length.at(which);
  if (length > part_bytes.at(index_of(part))) return std::nullopt;
  return std::string_view(memory.data() + place_of(part, which), length);
}

constexpr std::string_view shape_marks = "rlm";
constexpr char taken_mark = 't';
constexpr char later_mark = 'l';

std::vector<JournalledCall> calls_in(std::string_view text) {
  std::vector<JournalledCall> calls;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::size_t mark = shape_marks.find(text[0]);
    if (mark != std::string_view::npos && end > 1) {
      calls.push_back(
          {std::string(text.substr(1, end - 1)), CallShape{static_cast<std::uint8_t>(mark)}});
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return calls;
}

void read_input(std::string_view text, JournalContent& content) {
  if (text.empty()) return;
  const bool is_taken = text[0] == taken_mark;
  text.remove_prefix(1);
  const std::size_t lines = is_taken ? text.rfind('\n') + 1 : 0;  // npos + 1: none
  content.taken = text.substr(0, lines);
  content.unread = text.substr(lines);
}

}  // namespace

JournalWriter::JournalWriter(std::span<char> memory) : memory_(memory) {
  set_memory("null");
  set_calls({});
  set_input("", false);
}

void JournalWriter::begin() { store(head_of(memory_).begun, begun_mark); }

void JournalWriter::set_memory(const std::optional<std::string>& json) {
  put(memory_, Part::memory, {}, json);
}

void JournalWriter::set_calls(const std::vector<JournalledCall>& calls) {
  std::string text;
  for (const JournalledCall& call : calls) {
    text += shape_marks.at(static_cast<std::size_t>(call.shape));
    text.append(call.id).push_back('\n');
  }
  put(memory_, Part::calls, {}, text);
}

void JournalWriter::set_input(std::optional<std::string_view> bytes, bool is_taken) {
  const char mark = is_taken ? taken_mark : later_mark;
  put(memory_, Part::input, {&mark, 1}, bytes);
}

void JournalWriter::set_partial_output(bool is_partial) {
  store(head_of(memory_).partial_output, is_partial ? 1 : 0);
}

std::optional<JournalContent> read_journal(std::span<const char> memory) {
  if (memory.size() != session_journal_bytes) return std::nullopt;
  Head head{};
  std::memcpy(&head, memory.data(), sizeof head);
  if (head.begun != begun_mark) return std::nullopt;
  JournalContent content;
  const auto input = part_of(memory, head, Part::input);
  const auto calls = part_of(memory, head, Part::calls);
  const auto kept = part_of(memory, head, Part::memory);
  content.is_input_lost = !input || !calls;
  content.is_output_partial = head.partial_output != 0;
  if (input) read_input(*input, content);
  if (calls) content.calls = calls_in(*calls);
  if (kept && !content.is_input_lost) content.memory = std::string(*kept);
  return content;
}

}  // namespace cellblock
