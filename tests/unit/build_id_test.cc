#include "policy/base/build_id.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace cellblock {
namespace {

std::string bytes_of(const auto& record) {
  return {reinterpret_cast<const char*>(&record), sizeof record};
}

std::string note(std::string_view name, std::string_view text) {
  const Elf64_Nhdr header{.n_namesz = static_cast<Elf64_Word>(name.size()),
                          .n_descsz = static_cast<Elf64_Word>(text.size()),
                          .n_type = 1};
  const auto padded = [](std::string_view part) {
    std::string whole(part);
    whole.resize((part.size() + 3) / 4 * 4);
    return whole;
  };
  return bytes_of(header) + padded(name) + padded(text);
}

constexpr std::string_view own_name("cellblock", 10);

/// A file with a segment for each list of notes.
std::string file_with(const std::vector<std::string>& segments) {
  Elf64_Ehdr file{};
  std::memcpy(file.e_ident, ELFMAG, SELFMAG);
  file.e_ident[EI_CLASS] = ELFCLASS64;
  file.e_phoff = sizeof file;
  file.e_phnum = static_cast<Elf64_Half>(segments.size());
  std::string table;
  std::string contents;
  const auto begin = sizeof(Elf64_Ehdr) + (segments.size() * sizeof(Elf64_Phdr));
  for (const auto& segment : segments) {
    table += bytes_of(Elf64_Phdr{
        .p_type = PT_NOTE, .p_offset = begin + contents.size(), .p_filesz = segment.size()});
    contents += segment;
  }
  return bytes_of(file) + table + contents;
}

TEST(BuildId, IsReadFromTheNoteOfThatName) {
  EXPECT_EQ(build_id_in(file_with({note(own_name, "1.2-abc")})), "1.2-abc");
  EXPECT_EQ(build_id_in(file_with({note("GNU", "x"), note("other", "y") + note(own_name, "z")})),
            "z");
}

TEST(BuildId, IsNoneInWhatHasNoSuchNote) {
  EXPECT_EQ(build_id_in(""), std::nullopt);
  EXPECT_EQ(build_id_in("#!/bin/sh\n"), std::nullopt);
  EXPECT_EQ(build_id_in(file_with({})), std::nullopt);
  EXPECT_EQ(build_id_in(file_with({note("GNU", "x")})), std::nullopt);
  EXPECT_EQ(build_id_in(file_with({note(own_name, "")})), std::nullopt);
  EXPECT_EQ(build_id_in(file_with({note(own_name, std::string(65, 'x'))})), std::nullopt);
}

TEST(BuildId, IsNoneInAnyPartOfAFile) {
  const auto whole = file_with({note("GNU", "x"), note(own_name, "1.2")});
  ASSERT_TRUE(build_id_in(whole));
  for (std::size_t size = 0; size + 1 < whole.size(); ++size) {
    EXPECT_EQ(build_id_in(std::string_view(whole).substr(0, size)), std::nullopt) << size;
  }
}

TEST(BuildId, IsReadWithinTheFileWhateverItsSizesSay) {
  auto file = file_with({note(own_name, "1.2")});
  const std::string whole = file;
  for (std::size_t at = 0; at + 8 <= whole.size(); at += 4) {
    file = whole;
    std::memset(file.data() + at, 0xff, 8);
    static_cast<void>(build_id_in(file));
  }
}

}  // namespace
}  // namespace cellblock
