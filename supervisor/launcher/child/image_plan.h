#pragma once

#include <map>
#include <string>
#include <vector>

#include "supervisor/launcher/child/root_plan.h"

/// How an unpacked image becomes a cell's root: each of its entries is mounted in its place, but
/// where the cell has something of its own. A directory above such a place is not mounted itself:
/// its entries are, one by one ("merged"). Pure.
namespace cellblock::launcher {

/// A directory, a regular file or a symbolic link in a directory of the image.
struct ImageEntry {
  std::string name;
  EntryKind kind = EntryKind::bind;  ///< bind: a directory or a file; symbolic_link
  std::string link;                  ///< its target
};

/// What the image has in the directories that are merged, by their path inside the cell.
using ImageListing = std::map<std::string, std::vector<ImageEntry>>;

/// Outermost first; "/" is always the first. `own`: the entries besides the image's.
std::vector<std::string> merged_directories(const std::vector<RootEntry>& own);

/// The whole root: what the image has, then `own`.
std::vector<RootEntry> plan_image_root(const std::string& image, const std::vector<RootEntry>& own,
                                       const ImageListing& listing);

}  // namespace cellblock::launcher
