#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace cellblock::cli {

/// A server in the text of a host's configuration.
struct HostEntry {
  std::vector<std::string> path;  ///< of names: {"projects", "/p", "mcpServers", "files"}
  std::size_t begin = 0;          ///< of its text: an object, or in TOML its tables, whole lines
  std::size_t end = 0;
  nlohmann::ordered_json value;

  const std::string& name() const { return path.back(); }
};

}  // namespace cellblock::cli
