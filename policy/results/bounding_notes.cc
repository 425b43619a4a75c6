#include "policy/results/bounding_notes.h"

#include <fmt/format.h>

#include <algorithm>

#include "policy/json/json_text.h"
#include "policy/mcp/protocol_words.h"

namespace cellblock {

std::size_t MissingPart::size() const {
  std::size_t size = 0;
  for (const Piece& piece : pieces) {
    size += piece.is_text ? decoded_size(piece.raw) : piece.raw.size();
    if (kind == PartKind::several) ++size;
  }
  return size;
}

std::string MissingPart::text(std::size_t limit) const {
  std::string text;
  text.reserve(std::min(limit, size()));  // exactly: it is kept
  for (const Piece& piece : pieces) {
    const std::size_t room = limit - text.size();
    if (piece.is_text) {
      append_decoded(text, piece.raw, room);
    } else {
      text.append(piece.raw, 0, character_boundary(piece.raw, room));
    }
    if (kind == PartKind::several && text.size() < limit) text += '\n';
  }
  return text;
}

namespace {

std::string call_of(const PartPlace& place, std::size_t offset) {
  if (place.kept.reader.empty()) return fmt::format("read the resource {}", place.uri());
  const std::string from = offset == 0 ? "" : fmt::format(R"(, "offset": {})", offset);
  return fmt::format(R"(call the tool {} with {{"uri": "{}"{}}})", place.kept.reader, place.uri(),
                     from);
}

/// How to read on from `offset`.
std::string how(const PartPlace& place, std::size_t offset) {
  const std::size_t kept = place.kept_bytes();
  if (kept <= offset) {
    return "It is not kept: ask for less at a time, if this can be asked for in parts.";
  }
  const std::string_view search = place.kept.reader.empty() ? "" : R"(; "grep" finds lines in it)";
  const std::string_view time = place.kept.life.empty() ? "" : ", for ";
  const std::string part =
      kept < place.size ? fmt::format("only its first {} bytes are kept", kept) : "it is kept";
  return fmt::format("To read on, {}{} ({}{}{}).", call_of(place, offset), search, part, time,
                     place.kept.life);
}

std::string_view sort_of(const ResultItem& item) {
  if (item.name == "image") return "an image";
  if (item.name == "audio") return "a sound";
  return "a blob";
}

}  // namespace

std::string cut_note(std::size_t missing, std::size_t offset, const PartPlace& place) {
  return fmt::format("[cellblock left out {} of {} bytes here. {}]", missing, place.size,
                     how(place, offset));
}

std::string media_note(const ResultItem& item, const PartPlace& place) {
  const std::string mime = item.mime.empty() ? "" : item.mime + ", ";
  const std::string kept = place.kept_bytes() < place.size
                               ? std::string("It is not kept.")
                               : fmt::format("It is the resource {}.", place.uri());
  return fmt::format("[cellblock left out {} here ({}{} bytes of base64). {}]", sort_of(item), mime,
                     place.size, kept);
}

std::string items_note(std::size_t left_out, std::size_t of, const PartPlace& place) {
  return fmt::format("[cellblock left out {} of {} items, {} bytes. {}]", left_out, of, place.size,
                     how(place, 0));
}

std::string no_object_note(const PartPlace& place) {
  return fmt::format("[cellblock left out the result, {} bytes of JSON: it is no object. {}]",
                     place.size, how(place, 0));
}

std::string structured_note(std::string_view why, const PartPlace& place) {
  return fmt::format(
      "[cellblock left out structuredContent, {} bytes of JSON: {}. This is marked as an error "
      "only "
      "for that. {}]",
      place.size, why, how(place, 0));
}

namespace {

/// What models see of an error in the hosts of today, about.
constexpr std::size_t longest_message = 10'000;

std::string cut(std::string_view raw, std::size_t most) {
  if (!is_raw_string(raw)) return R"("")";
  if (decoded_size(raw) <= most) return std::string(raw);
  const Ends ends = ends_of(raw, most * 3 / 5, most - most * 3 / 5);
  return json_quoted(fmt::format("{}\n\n[cellblock left out {} of {} bytes here.]\n\n{}", ends.head,
                                 ends.total - ends.head.size() - ends.tail.size(), ends.total,
                                 ends.tail));
}

}  // namespace

std::optional<std::string> bounded_error(std::string_view error, const ResultBounds& bounds) {
  if (error.size() <= bounds.max_bytes) return std::nullopt;
  const auto members = raw_members(error);
  if (!members) {
    return fmt::format(
        R"({{"code":-32603,"message":"[cellblock left out an error that is no object.]",)"
        R"("data":{{"{}":{{"bytes":{}}}}}}})",
        mcp::meta_key::bounded, error.size());
  }
  const RawMember* code = find_member(*members, "code");
  const RawMember* message = find_member(*members, "message");
  const std::size_t most = std::min<std::size_t>(longest_message, bounds.max_bytes / 2);
  const bool has_code = code != nullptr && code->value.size() <= most;
  return fmt::format(R"({{"code":{},"message":{},"data":{{"{}":{{"bytes":{}}}}}}})",
                     has_code ? code->value : "-32603",
                     message == nullptr ? R"("")" : cut(message->value, most),
                     mcp::meta_key::bounded, error.size());
}

}  // namespace cellblock
