#pragma once

#include <string>

/// The programs that belong together: those of one build tree, or of one installation.
namespace cellblock::cli {

struct Installation {
  std::string command;  ///< `cellblock`
  std::string daemon;   ///< `cellblockd`
  std::string tools;    ///< `cellblock-tools`
  std::string recipes;  ///< a directory
};

/// For a build tree or a copy of one: all programs are in one directory.
Installation build_tree_of(const std::string& program);

/// For an installation: in the configured directories, below its prefix. `program`: the whole path
/// of `cellblock` or `cellblock-tools` in it.
Installation installation_of(const std::string& program);

/// The one that this program is part of. Nothing is looked for anywhere else.
const Installation& own_installation();

}  // namespace cellblock::cli
