#include "client/cli/import/read/bundle_archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <string_view>
#include <system_error>

#include "client/cli/terminal/terminal_text.h"
#include "client/connection/fd.h"

namespace cellblock::cli {
namespace {

constexpr int most_members = 65'536;
constexpr std::size_t block = 65'536;
constexpr std::string_view local_header = "PK\x03\x04";

using Archive = std::unique_ptr<archive, int (*)(archive*)>;

client::OwnedFd opened(const std::string& path) {
  return client::OwnedFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
}

std::unexpected<Error> cannot_read(const std::string& path, std::string_view why) {
  return fail(fmt::format("{}: {}", safe_line(path), safe_line(why)));
}

std::unexpected<Error> unreadable(const std::string& path, archive* from) {
  const char* why = ::archive_error_string(from);
  return cannot_read(path, why == nullptr ? "it is no zip archive that can be read" : why);
}

bool is_manifest(archive_entry* entry) {
  const char* name = ::archive_entry_pathname(entry);
  const std::string_view path = name == nullptr ? "" : name;
  return path == "manifest.json" || path == "./manifest.json";
}

Result<std::string> member_text(archive* from, const std::string& path, std::size_t most) {
  std::string text;
  std::array<char, 16384> bytes{};
  while (text.size() <= most) {
    const la_ssize_t count = ::archive_read_data(from, bytes.data(), bytes.size());
    if (count < 0) return unreadable(path, from);
    if (count == 0) return text;
    text.append(bytes.data(), static_cast<std::size_t>(count));
  }
  return cannot_read(path, fmt::format("its manifest.json is longer than {} bytes", most));
}

}  // namespace

bool is_zip(const std::string& path) {
  const client::OwnedFd file = opened(path);
  std::array<char, local_header.size()> first{};
  return file.valid() &&
         ::pread(file.get(), first.data(), first.size(), 0) == static_cast<ssize_t>(first.size()) &&
         std::string_view(first.data(), first.size()) == local_header;
}

Result<std::string> packed_manifest(const std::string& path, std::size_t most) {
  const client::OwnedFd file = opened(path);
  if (!file.valid()) return cannot_read(path, std::generic_category().message(errno));
  const Archive reader(::archive_read_new(), &::archive_read_free);
  archive* from = reader.get();
  ::archive_read_support_format_zip(from);
  if (::archive_read_open_fd(from, file.get(), block) != ARCHIVE_OK) return unreadable(path, from);
  archive_entry* entry = nullptr;
  for (int i = 0; i < most_members; ++i) {
    const int found = ::archive_read_next_header(from, &entry);
    if (found == ARCHIVE_EOF)
      return cannot_read(path, "it has no manifest.json, so it is no bundle");
    if (found != ARCHIVE_OK && found != ARCHIVE_WARN) return unreadable(path, from);
    if (is_manifest(entry)) return member_text(from, path, most);
  }
  return cannot_read(path, fmt::format("it has more than {} members", most_members));
}

}  // namespace cellblock::cli
