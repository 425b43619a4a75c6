#include "policy/results/bounding_notes.h"

#include <fmt/format.h>

namespace cellblock {
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

}  // namespace cellblock
