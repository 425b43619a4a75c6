#include "client/cli/install/lock_holder.h"

#include <fmt/format.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

// "1: FLOCK  ADVISORY  WRITE 4711 fe:01:917507 0 EOF"; of one that waits "1: -> FLOCK ...".
std::optional<pid_t> holder_in(const std::string& line, const std::string& file) {
  std::istringstream words(line);
  std::string number;
  std::string kind;
  std::string force;
  std::string access;
  std::string holder;
  std::string place;
  words >> number >> kind >> force >> access >> holder >> place;
  if (kind != "FLOCK" || place != file) return std::nullopt;
  pid_t process = 0;
  const auto end = holder.data() + holder.size();
  const bool is_number = std::from_chars(holder.data(), end, process).ptr == end;
  return is_number && process > 0 ? std::optional(process) : std::nullopt;
}

}  // namespace

std::optional<pid_t> lock_holder(std::string_view locks, dev_t device, ino_t file) {
  const auto place = fmt::format("{:02x}:{:02x}:{}", major(device), minor(device), file);
  std::istringstream lines{std::string(locks)};
  for (std::string line; std::getline(lines, line);) {
    if (const auto holder = holder_in(line, place)) return holder;
  }
  return std::nullopt;
}

std::string shown_command(std::string_view cmdline) {
  constexpr int most_words = 3;
  std::string shown;
  for (int count = 0; !cmdline.empty() && count < most_words;) {
    const auto word = cmdline.substr(0, cmdline.find('\0'));
    cmdline.remove_prefix(std::min(word.size() + 1, cmdline.size()));
    if (word == "--" || word.contains('=')) break;
    if (word.starts_with('-')) continue;
    const bool is_program = shown.empty();
    shown += is_program ? std::string(word.substr(word.rfind('/') + 1)) : fmt::format(" {}", word);
    ++count;
  }
  return safe_line(shown);
}

}  // namespace cellblock::cli
