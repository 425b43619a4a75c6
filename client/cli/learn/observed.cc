#include "client/cli/learn/observed.h"

#include <algorithm>
#include <utility>

#include "client/cli/learn/said_ports.h"

namespace cellblock::cli {

template <class Key>
void Observed::count(std::map<Key, Counts>& seen, std::size_t most, const Key& key,
                     Speaker speaker) {
  if (seen.size() < most || seen.contains(key)) {
    seen[key].at(static_cast<std::size_t>(speaker)) += 1;
  } else {
    left_out_ += 1;
  }
}

void Observed::said(Speaker speaker, std::string_view line) {
  for (SaidPath& said : said_paths(line)) {
    count(paths_, most_paths, std::pair{std::move(said.path), said.wish}, speaker);
  }
  for (const std::uint16_t port : said_loopback_ports(line)) {
    count(loopback_ports_, most_ports, port, speaker);
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

std::vector<MissedPort> Observed::loopback_ports() const {
  std::vector<MissedPort> list;
  list.reserve(loopback_ports_.size());
  for (const auto& [port, counts] : loopback_ports_)
    list.push_back({port, std::ranges::max(counts)});
  return list;
}

std::vector<RefusedOperation> Observed::operations() const {
  std::vector<RefusedOperation> list;
  list.reserve(operations_.size());
  for (const auto& [what, operation] : operations_) list.push_back(operation);
  return list;
}

}  // namespace cellblock::cli
