#include "client/cli/learn/observed.h"

#include <algorithm>
#include <utility>

namespace cellblock::cli {

void Observed::said(Speaker speaker, std::string_view line) {
  for (SaidPath& said : said_paths(line)) {
    const std::pair key{std::move(said.path), said.wish};
    if (paths_.size() < most_paths || paths_.contains(key)) {
      paths_[key].at(static_cast<std::size_t>(speaker)) += 1;
    } else {
      left_out_ += 1;
    }
  }
}

void Observed::refused(const std::string& what, const std::string& allow, std::uint64_t count) {
  const bool has_room = operations_.size() < most_operations || operations_.contains(what);
  if (!has_room) {
    left_out_ += 1;
    return;
  }
  RefusedOperation& operation = operations_[what];
  operation.what = what;
  operation.allow = allow;
  operation.count += count;
  operation.remedy = read_remedy(what, allow);
}

std::vector<MissedPath> Observed::paths() const {
  std::vector<MissedPath> list;
  list.reserve(paths_.size());
  for (const auto& [key, counts] : paths_) {
    list.push_back({{key.first, key.second}, std::ranges::max(counts)});
  }
  return list;
}

std::vector<RefusedOperation> Observed::operations() const {
  std::vector<RefusedOperation> list;
  list.reserve(operations_.size());
  for (const auto& [what, operation] : operations_) list.push_back(operation);
  return list;
}

}  // namespace cellblock::cli
