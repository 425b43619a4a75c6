#include "client/cli/learn/learned_paths.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "client/cli/common/secret_paths.h"
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

namespace {

// From so many missed files of one directory on, that directory is proposed instead.
constexpr std::size_t many_files = 4;

constexpr std::array<std::string_view, 8> seen_anyway{"/usr", "/bin",      "/sbin",      "/proc",
                                                      "/tmp", "/home/mcp", "/workspace", "/dev"};
constexpr std::array<std::string_view, 2> no_place{"/sys", "/run"};
bool is_below(std::string_view path, std::string_view tree) {
  return path.starts_with(tree) && (path.size() == tree.size() || path[tree.size()] == '/');
}

bool is_below_any(std::string_view path, const auto& trees) {
  return std::ranges::any_of(trees, [&](auto tree) { return is_below(path, tree); });
}

bool every_cell_has(std::string_view path) {
  return path.starts_with("/lib") || is_below_any(path, seen_anyway);
}

std::string parent_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

// "/srv", "/root"; "/home/alice".
bool is_whole_tree(const std::string& path) {
  const auto depth = std::ranges::count(path, '/');
  return depth < 2 || (depth == 2 && path.starts_with("/home/"));
}

std::string warning_of(const std::string& path) {
  if (is_secret_path(path))
    return "looks like somebody's secrets: env_from_file hands out single ones";
  if (path.ends_with(".sock") || path.ends_with(".socket")) return "a socket: no cell reaches one";
  if (is_below_any(path, no_place)) return "cannot be in a cell";
  if (path.find(':') != std::string::npos) return "a path with \":\" cannot be declared";
  if (is_whole_tree(path)) return "too much at once: name what below it is needed";
  return {};
}

// Where packages are installed, as npm and pip name it.
bool is_in_package(std::string_view path) {
  return path.contains("/node_modules/") || path.contains("/site-packages/") ||
         path.contains("/dist-packages/");
}

bool is_beside_program(const LearnedPath& learned, const std::vector<DeclaredPath>& declared) {
  if (learned.wish != PathWish::write) return false;
  return is_in_package(learned.path) ||
         std::ranges::any_of(declared, [&](const DeclaredPath& path) {
           return path.holds_program &&
                  (is_below(learned.path, path.path) || is_below(path.path, learned.path));
         });
}

bool suffices(const DeclaredPath& declared, const SaidPath& said) {
  return is_below(said.path, declared.path) &&
         (declared.wish == PathWish::write || said.wish == PathWish::read);
}

using Merged = std::map<std::string, LearnedPath>;

void add(Merged& merged, LearnedPath more) {
  const auto [at, is_new] = merged.try_emplace(more.path, more);
  if (is_new) return;
  LearnedPath& known = at->second;
  known.count += more.count;
  known.paths = std::max(known.paths, more.paths);
  if (more.wish == PathWish::write) known.wish = PathWish::write;
}

// What is not there can only be made, in the directory that it would be in.
std::string place_of(const SaidPath& said, const auto& kind_of) {
  if (kind_of(said.path) != PathKind::absent) return said.path;
  if (said.wish == PathWish::read) return {};
  const std::string parent = parent_of(said.path);
  return kind_of(parent) == PathKind::directory ? parent : std::string();
}

LearnedPath judged(const MissedPath& one, std::string place,
                   const std::vector<DeclaredPath>& declared) {
  LearnedPath learned{.path = std::move(place), .wish = one.said.wish, .count = one.count};
  learned.warning = warning_of(learned.path);
  if (is_beside_program(learned, declared)) {
    learned.warning =
        "it keeps its state beside its code, which nobody may write: look for a variable of the "
        "server's that names another place, such as one below /home/mcp";
  }
  const SaidPath wanted{learned.path, learned.wish};
  const bool is_declared =
      std::ranges::any_of(declared, [&](const auto& path) { return suffices(path, wanted); });
  if (is_declared) {
    learned.warning =
        "declared already: its owner or mode keeps the cell's user out (see \"Whose files are "
        "these?\" in docs/configuration.md)";
  }
  return learned;
}

// Only of files that are advised themselves, into a directory that would be.
std::string directory_instead(const LearnedPath& learned, const auto& kind_of) {
  if (!learned.warning.empty() || kind_of(learned.path) != PathKind::file) return {};
  std::string parent = parent_of(learned.path);
  return warning_of(parent).empty() && !every_cell_has(parent) ? parent : std::string();
}

void join_files(Merged& merged, const std::vector<DeclaredPath>& declared, const auto& kind_of) {
  std::map<std::pair<std::string, PathWish>, std::vector<std::string>> files;
  for (const auto& [path, learned] : merged) {
    const std::string parent = directory_instead(learned, kind_of);
    if (!parent.empty()) files[{parent, learned.wish}].push_back(path);
  }
  for (const auto& [place, paths] : files) {
    if (paths.size() < many_files) continue;
    LearnedPath whole{.path = place.first, .wish = place.second};
    if (is_beside_program(whole, declared)) continue;
    whole.paths = paths.size();
    for (const auto& path : paths) whole.count += merged.extract(path).mapped().count;
    add(merged, std::move(whole));
  }
}

bool gives(const LearnedPath& whole, const LearnedPath& part) {
  return &whole != &part && whole.warning.empty() && part.warning.empty() &&
         is_below(part.path, whole.path) &&
         (whole.wish == PathWish::write || part.wish == PathWish::read);
}

std::vector<LearnedPath> without_parts(const Merged& merged) {
  std::vector<LearnedPath> kept;
  for (const auto& [path, learned] : merged) {
    const bool is_given = std::ranges::any_of(
        merged, [&](const auto& other) { return gives(other.second, learned); });
    if (!is_given) kept.push_back(learned);
  }
  return kept;
}

}  // namespace

std::vector<LearnedPath> learned_paths(
    const std::vector<MissedPath>& missed, const std::vector<DeclaredPath>& declared,
    const std::function<PathKind(const std::string& path)>& kind_of) {
  Merged merged;
  for (const MissedPath& one : missed) {
    if (every_cell_has(one.said.path)) continue;
    std::string place = place_of(one.said, kind_of);
    if (!place.empty()) add(merged, judged(one, std::move(place), declared));
  }
  join_files(merged, declared, kind_of);
  return without_parts(merged);
}

}  // namespace cellblock::cli
