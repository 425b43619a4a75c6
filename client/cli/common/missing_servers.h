#pragma once

#include <map>
#include <string>
#include <string_view>

namespace cellblock::cli {

/// The servers that are not in a list of all servers at once, and why: out of the frames that bring
/// the list.
class MissingServers {
 public:
  /// A line from the daemon. Others than answers that name such servers are nothing to it.
  void see(std::string_view frame);
  /// A line for each, escaped, with its newline. Then they are forgotten.
  std::string take();

 private:
  std::map<std::string, std::string> reasons_;  ///< by server
};

}  // namespace cellblock::cli
