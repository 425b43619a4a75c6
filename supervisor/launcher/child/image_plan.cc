#include "supervisor/launcher/child/image_plan.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "policy/config/path_rules.h"
#include "policy/failures/end_verdict.h"

namespace cellblock::launcher {
namespace {

// Of an image these are never shown, whether the cell has something there or not.
constexpr std::array<std::string_view, 2> never_of_an_image = {"/sys", "/etc/resolv.conf"};

bool hides(const std::vector<RootEntry>& own, std::string_view path) {
  const auto is_over = [path](std::string_view above) { return is_at_or_below(path, above); };
  return std::ranges::any_of(never_of_an_image, is_over) ||
         std::ranges::any_of(own, is_over, &RootEntry::path);
}

std::string below(const std::string& directory, const std::string& name) {
  return (directory == "/" ? "" : directory) + "/" + name;
}

RootEntry shown(const std::string& image, const std::string& path, const ImageEntry& entry) {
  if (entry.kind == EntryKind::symbolic_link) {
    return {EntryKind::symbolic_link, path, entry.link, {}, path_of_image};
  }
  return {EntryKind::bind, path, image + path, BindKind::read, path_of_image};
}

}  // namespace

std::vector<std::string> merged_directories(const std::vector<RootEntry>& own) {
  std::set<std::string> merged = {"/"};
  for (const RootEntry& entry : own) {
    for (std::size_t slash = entry.path.rfind('/'); slash != 0 && slash != std::string::npos;
         slash = entry.path.rfind('/', slash - 1)) {
      std::string directory = entry.path.substr(0, slash);
      if (!hides(own, directory)) merged.insert(std::move(directory));
    }
  }
  return {merged.begin(), merged.end()};
}

std::vector<RootEntry> plan_image_root(const std::string& image, const std::vector<RootEntry>& own,
                                       const ImageListing& listing) {
  const auto merged = merged_directories(own);
  std::vector<RootEntry> entries;
  for (const std::string& directory : merged) {
    const auto found = listing.find(directory);
    if (found == listing.end()) continue;
    for (const ImageEntry& entry : found->second) {
      const std::string path = below(directory, entry.name);
      if (hides(own, path) || std::ranges::binary_search(merged, path)) continue;
      entries.push_back(shown(image, path, entry));
    }
  }
  entries.insert(entries.end(), own.begin(), own.end());
  return entries;
}

}  // namespace cellblock::launcher
