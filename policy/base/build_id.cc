#include "policy/base/build_id.h"

#include <elf.h>

#include <cstdint>
#include <cstring>

namespace cellblock {
namespace {

constexpr std::string_view owner("cellblock", sizeof "cellblock");  // with its NUL
constexpr std::size_t longest_id = 64;

template <class Record>
std::optional<Record> record_at(std::string_view bytes, std::uint64_t at) {
  if (at > bytes.size() || bytes.size() - at < sizeof(Record)) return std::nullopt;
  Record record{};
  std::memcpy(&record, bytes.data() + at, sizeof record);
  return record;
}

// Names and contents of notes fill whole words.
constexpr std::uint64_t padded(std::uint64_t size) { return (size + 3) & ~std::uint64_t{3}; }

std::optional<std::string> id_in_notes(std::string_view notes) {
  while (const auto note = record_at<Elf64_Nhdr>(notes, 0)) {
    const auto name_size = padded(note->n_namesz);
    const auto id_size = padded(note->n_descsz);
    notes.remove_prefix(sizeof *note);
    if (name_size > notes.size() || id_size > notes.size() - name_size) return std::nullopt;
    const auto id = notes.substr(name_size, note->n_descsz);
    if (notes.substr(0, note->n_namesz) == owner && !id.empty() && id.size() <= longest_id) {
      return std::string(id);
    }
    notes.remove_prefix(name_size + id_size);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> build_id_in(std::string_view head) {
  const auto file = record_at<Elf64_Ehdr>(head, 0);
  if (!file || !head.starts_with(std::string_view(ELFMAG, SELFMAG)) ||
      file->e_ident[EI_CLASS] != ELFCLASS64) {
    return std::nullopt;
  }
  for (std::uint64_t index = 0; index < file->e_phnum; ++index) {
    const auto segment = record_at<Elf64_Phdr>(head, file->e_phoff + (index * sizeof(Elf64_Phdr)));
    if (!segment) return std::nullopt;
    if (segment->p_type != PT_NOTE || segment->p_offset > head.size()) continue;
    const auto id = id_in_notes(head.substr(segment->p_offset, segment->p_filesz));
    if (id) return id;
  }
  return std::nullopt;
}

}  // namespace cellblock
