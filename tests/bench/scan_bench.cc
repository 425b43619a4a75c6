#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>

#include "policy/jsonrpc/jsonrpc.h"

/// How fast lines are scanned: `scan_bench`. The best of several rounds is printed.
namespace {

using cellblock::MessageScanner;
using Clock = std::chrono::steady_clock;

double seconds_per_scan(MessageScanner& scanner, const std::string& line, int scans) {
  const std::string padded = line + std::string(MessageScanner::padding, '\0');
  const auto view = std::string_view{padded}.substr(0, line.size());
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    const auto start = Clock::now();
    for (int i = 0; i < scans; ++i) {
      if (!scanner.scan(view).has_value()) return -1;
    }
    const std::chrono::duration<double> taken = Clock::now() - start;
    best = std::min(best, taken.count() / scans);
  }
  return best;
}

void measure(const char* what, const std::string& line, int scans) {
  MessageScanner scanner;
  const double seconds = seconds_per_scan(scanner, line, scans);
  std::printf("%-44s %9zu bytes %12.2f us %9.0f MB/s\n", what, line.size(), seconds * 1e6,
              static_cast<double>(line.size()) / seconds / 1e6);
}

std::string repeated(std::string_view piece, std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += piece;
  return text;
}

std::string text_result(std::string_view piece, std::size_t bytes) {
  return R"({"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":")" +
         repeated(piece, bytes) + R"("}]}})";
}

std::string array_result(const std::string& piece, std::size_t bytes) {
  return R"({"jsonrpc":"2.0","id":7,"result":{"structuredContent":[)" +
         repeated(piece + ",", bytes) + piece + "]}}";
}

}  // namespace

int main() {
  constexpr std::size_t large = 10'000'000;
  measure(
      "tools/call request",
      R"({"jsonrpc":"2.0","id":123456789012,"method":"tools/call","params":{"name":"read_file",)"
      R"("arguments":{"path":"/srv/data/report.txt","offset":0,"limit":4096},)"
      R"("_meta":{"progressToken":17}}})",
      100'000);
  measure("result, 10 MB of plain text", text_result("The quick brown fox jumps over it. ", large),
          10);
  measure("result, 10 MB of text with escapes", text_result(R"(one \"line\" of code;\n)", large),
          10);
  measure("result, 10 MB of accented text", text_result("Größe, naïve, déjà vu, ", large), 10);
  measure("result, 10 MB of small objects",
          array_result(R"({"id":12345,"name":"some name","ok":true,"ratio":0.25})", large), 10);
  measure("result, 10 MB of numbers", array_result("3.14159", large), 10);
}
