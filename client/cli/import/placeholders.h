#pragma once

#include <string>

namespace cellblock::cli {

/// What placeholders of hosts stand for in a cell.
struct PlaceholderValues {
  std::string own_directory;  ///< `${__dirname}`
};

/// `text` with those filled in that have one meaning: the workspace, a bundle's directory, defaults
/// (`${NAME:-default}`). The others stay.
std::string filled_in(const std::string& text, const PlaceholderValues& values);

}  // namespace cellblock::cli
