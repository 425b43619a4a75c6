#include "policy/failures/path_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

namespace cellblock {
namespace {

constexpr std::array<std::string_view, 2> eacces_words{"EACCES", "ermission denied"};
constexpr std::array<std::string_view, 2> erofs_words{"EROFS", "ead-only file system"};

PathAdvice advice_of(const Server& server, std::size_t bind, const CellClient& user,
                     const Identity& identity) {
  const Bind& declared = server.binds[bind];
  PathAdvice advice{.target = declared.target};
  const SourceAccess access = source_access(server, bind, user, identity);
  if (!access.allowed) {
    advice.on_eacces = fmt::format("{}; {}", access.problem, access.remedy);
  }
  if (declared.access == Access::read) {
    advice.on_erofs = fmt::format(
        "{} is declared under read, so cells cannot change it: declare it under write of server "
        "{}, if they may",
        declared.source, server.name);
  }
  return advice;
}

bool has_any(std::string_view text, std::span<const std::string_view> words) {
  return std::ranges::any_of(words, [text](std::string_view word) { return text.contains(word); });
}

// "/data" is not in "/database".
bool names_path(std::string_view text, std::string_view path) {
  for (std::size_t at = text.find(path); at != std::string_view::npos;
       at = text.find(path, at + 1)) {
    const std::size_t end = at + path.size();
    const bool is_whole = end == text.size() || text[end] == '/' ||
                          std::string_view("'\"`\\ ,:;)]").contains(text[end]);
    if (is_whole) return true;
  }
  return false;
}

}  // namespace

std::vector<PathAdvice> path_advice_of(const Server& server, const CellClient& user,
                                       const Identity& identity) {
  std::vector<PathAdvice> all;
  for (std::size_t i = 0; i < server.binds.size(); ++i) {
    PathAdvice advice = advice_of(server, i, user, identity);
    if (!advice.on_eacces.empty() || !advice.on_erofs.empty()) all.push_back(std::move(advice));
  }
  std::ranges::stable_sort(all, std::ranges::greater(),
                           [](const PathAdvice& one) { return one.target.size(); });
  return all;
}

std::string_view advice_for_report(const std::vector<PathAdvice>& advice, std::string_view report) {
  if (advice.empty()) return {};
  const bool is_eacces = has_any(report, eacces_words);
  const bool is_erofs = has_any(report, erofs_words);
  if (!is_eacces && !is_erofs) return {};
  for (const PathAdvice& one : advice) {
    const std::string& text = is_eacces ? one.on_eacces : one.on_erofs;
    if (!text.empty() && names_path(report, one.target)) return text;
  }
  return {};
}

}  // namespace cellblock
