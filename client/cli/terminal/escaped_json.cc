#include "client/cli/terminal/escaped_json.h"

#include <fmt/format.h>

#include <cstddef>

#include "policy/json/raw_json.h"

namespace cellblock::cli {
namespace {

// Each level reads what is below it once more.
constexpr std::size_t deepest = 16;
constexpr std::size_t indent = 2;

std::string all_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = byte >= 0x20 && byte < 0x7f;
    escaped += is_plain ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return escaped;
}

class Printer {
 public:
  void print(std::string_view value, std::size_t depth) {
    const auto members = depth < deepest ? raw_members(value) : std::nullopt;
    if (members && !members->empty()) {
      text_ += "{";
      for (const RawMember& member : *members) {
        next_line(depth + 1, &member == &members->front());
        text_ += all_escaped(member.key) + ": ";
        print(member.value, depth + 1);
      }
      return end(depth, "}");
    }
    const auto elements = depth < deepest ? raw_elements(value) : std::nullopt;
    if (!elements || elements->empty()) {
      text_ += all_escaped(value);
      return;
    }
    text_ += "[";
    bool is_first = true;
    for (const std::string_view element : *elements) {
      next_line(depth + 1, is_first);
      is_first = false;
      print(element, depth + 1);
    }
    end(depth, "]");
  }

  std::string take() { return std::move(text_); }

 private:
  void next_line(std::size_t depth, bool is_first) {
    text_ += is_first ? "\n" : ",\n";
    text_ += std::string(depth * indent, ' ');
  }
  void end(std::size_t depth, std::string_view bracket) {
    text_ += "\n" + std::string(depth * indent, ' ');
    text_ += bracket;
  }

  std::string text_;
};

}  // namespace

std::string escaped_json(std::string_view text) {
  Printer printer;
  printer.print(text, 0);
  return printer.take();
}

}  // namespace cellblock::cli
