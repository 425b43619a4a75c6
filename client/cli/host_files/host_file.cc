#include "client/cli/host_files/host_file.h"

#include <fmt/format.h>

#include <utility>

#include "client/cli/host_files/file_at.h"
#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

FileAt at_path(const std::string& path) { return {.path = path, .name = path}; }

}  // namespace

Result<std::string> own_file(const std::string& path) {
  auto file = CELLBLOCK_TRY(read_own(at_path(path), max_host_file_bytes));
  return std::move(file.text);
}

Result<void> replace_own_file(const std::string& path, const std::string& before,
                              const std::string& text) {
  const auto now = CELLBLOCK_TRY(read_own(at_path(path), max_host_file_bytes));
  if (now.text != before) {
    return fail(
        fmt::format("{}: it was changed meanwhile: end its host, and try again", safe_line(path)));
  }
  return put_own(at_path(path), text, now.status);
}

}  // namespace cellblock::cli
