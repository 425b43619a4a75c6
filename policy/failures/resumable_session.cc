#include "policy/failures/resumable_session.h"

#include <algorithm>
#include <cstring>

namespace cellblock {
namespace {

using namespace journal;

constexpr std::size_t first_part = 4096;
static_assert(sizeof(Head) <= first_part);
static_assert(first_part + (2 * (part_bytes[0] + part_bytes[1] + part_bytes[2])) <=
              session_journal_bytes);

constexpr std::string_view shape_marks = "rlm";

/// nullopt: it did not fit, or it makes no sense.
std::optional<std::string_view> part_of(std::span<const char> memory, const Head& head, Part part) {
  const PartHead& own = head.parts.at(index_of(part));
  const std::uint32_t which = own.current == 0 ? 0 : 1;
  const std::uint32_t length = own.length.at(which);
  if (length > part_bytes.at(index_of(part))) return std::nullopt;
  return std::string_view(memory.data() + place_of(part, which), length);
}

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

std::size_t journal::place_of(Part part, std::uint32_t which) {
  std::size_t place = first_part;
  for (std::size_t i = 0; i < index_of(part); ++i) place += 2 * part_bytes.at(i);
  return place + (which * part_bytes.at(index_of(part)));
}

std::string journal::text_of(const std::vector<JournalledCall>& calls) {
  std::string text;
  for (const JournalledCall& call : calls) {
    text += shape_marks.at(static_cast<std::size_t>(call.shape));
    text.append(call.id).push_back('\n');
  }
  return text;
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
