#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "policy/jsonrpc/line_splitter.h"
#include "tests/fuzz/check.h"

namespace {

using cellblock::LineSplitter;

constexpr std::size_t max_line = 24;

/// What the splitter should find, computed the plain way. A line over the maximum is an empty one
/// with a mark, which no line can contain.
std::vector<std::string> expected_lines(std::string_view bytes) {
  std::vector<std::string> lines;
  while (!bytes.empty()) {
    const std::size_t newline = std::min(bytes.find('\n'), bytes.size());
    const bool whole = newline < bytes.size();
    if (newline > max_line) {
      lines.emplace_back("\n");
    } else if (whole) {
      lines.emplace_back(bytes.substr(0, newline));
    }
    bytes.remove_prefix(whole ? newline + 1 : newline);
  }
  return lines;
}

void drain(LineSplitter& splitter, std::vector<std::string>& lines) {
  for (auto next = splitter.next(); next.kind != LineSplitter::Kind::need_more;
       next = splitter.next()) {
    lines.push_back(next.kind == LineSplitter::Kind::line ? std::string{next.line} : "\n");
  }
}

}  // namespace

/// The same lines come out wherever the reads were cut. The first byte seeds the cuts.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::size_t seed = data[0] + 1U;
  const std::string all{reinterpret_cast<const char*>(data) + 1, size - 1};
  std::string_view rest = all;
  LineSplitter splitter(max_line);
  std::vector<std::string> lines;
  while (!rest.empty()) {
    seed = seed * 1103515245 + 12345;
    const std::size_t count = std::min<std::size_t>(rest.size(), 1 + (seed >> 16) % 40);
    std::memcpy(splitter.writable().data(), rest.data(), count);
    splitter.written(count);
    rest.remove_prefix(count);
    drain(splitter, lines);
    CELLBLOCK_FUZZ_CHECK(splitter.unfinished() <= max_line);
  }
  CELLBLOCK_FUZZ_CHECK(lines == expected_lines(all));
  return 0;
}
