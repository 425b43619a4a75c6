#include "client/cli/learn/said_paths.h"

#include <algorithm>
#include <array>

#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t longest_line = 8192;
constexpr std::size_t longest_path = 1024;
constexpr std::size_t most_paths = 4;

// As Node, Python, Go, Rust and shells say it.
constexpr std::array failures{"enoent"sv,
                              "eacces"sv,
                              "eperm"sv,
                              "erofs"sv,
                              "no such file"sv,
                              "permission denied"sv,
                              "access denied"sv,
                              "read-only file system"sv,
                              "operation not permitted"sv,
                              "does not exist"sv,
                              "cannot access"sv,
                              "cannot open"sv,
                              "cannot read"sv,
                              "cannot write"sv,
                              "cannot create"sv,
                              "could not open"sv,
                              "failed to open"sv};
constexpr std::array changes{"erofs"sv,         "read-only file system"sv,
                             "cannot write"sv,  "mkdir"sv,
                             "cannot create"sv, "rmdir"sv,
                             "unlink"sv,        "rename"sv,
                             "symlink"sv,       "chmod"sv,
                             "copyfile"sv,      "mkdtemp"sv,
                             "utime"sv,         "truncate"sv};

std::string lower(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return small;
}

bool has_any(std::string_view text, const auto& words) {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

bool is_quote(char c) { return c == '\'' || c == '"' || c == '`'; }

// Where a word can begin. Not ':', as in "file:///srv", nor a letter, as in "and/or".
bool begins_word(std::string_view line, std::size_t at) {
  constexpr std::string_view before = " \t'\"`([{=,";
  return at == 0 || before.find(line[at - 1]) != std::string_view::npos;
}

// A quoted path may have blanks; any other ends where a word does.
std::size_t end_of(std::string_view line, std::size_t at) {
  if (at > 0 && is_quote(line[at - 1])) return line.find(line[at - 1], at);
  const auto end = line.find_first_of(" \t'\"`)]}<>;,\\", at);
  return end == std::string_view::npos ? line.size() : end;
}

std::string without_end(std::string_view path) {
  while (path.size() > 1 && (path.back() == '/' || path.back() == ':' || path.back() == '.')) {
    path.remove_suffix(1);
  }
  return std::string(path);
}

bool is_plain(const std::string& path) {
  if (path.size() < 2 || path.size() > longest_path || safe_line(path) != path) return false;
  const std::string closed = path + "/";
  return closed.find("//") == std::string::npos && closed.find("/./") == std::string::npos &&
         closed.find("/../") == std::string::npos;
}

}  // namespace

std::vector<SaidPath> said_paths(std::string_view line) {
  line = line.substr(0, longest_line);
  const std::string small = lower(line);
  if (!has_any(small, failures)) return {};
  const PathWish wish = has_any(small, changes) ? PathWish::write : PathWish::read;
  std::vector<SaidPath> found;
  auto at = line.find('/');
  while (at != std::string_view::npos && found.size() < most_paths) {
    const auto end = begins_word(line, at) ? end_of(line, at) : at + 1;
    if (end == std::string_view::npos) break;
    SaidPath said{without_end(line.substr(at, end - at)), wish};
    const bool is_new = is_plain(said.path) && std::ranges::find(found, said) == found.end();
    if (begins_word(line, at) && is_new) found.push_back(std::move(said));
    at = line.find('/', std::max(end, at + 1));
  }
  return found;
}

}  // namespace cellblock::cli
