#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/connection/fd.h"
#include "policy/base/result.h"

namespace cellblock::cli {

/// `directory` and its parents, as far as they are not there, the outermost first.
std::vector<std::string> missing_directories(const std::string& directory);

/// A directory for one installation, below where servers are installed; removed with all that is in
/// it at the end. What an installation left behind that was killed is removed by the next one, and
/// its daemon ended.
class Scratch {
 public:
  /// Makes `parent` where it is missing (0755; removed again if it stays empty). Never waits: an
  /// error where another installation runs there, or where others may write. Only we can enter the
  /// directory and, where a group is named, its members: cellblock's own processes.
  static Result<Scratch> make(const std::string& parent, std::optional<unsigned> group);
  Scratch(Scratch&& other) noexcept;
  Scratch& operator=(Scratch&&) = delete;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();

  /// The name of a file or directory in it.
  std::string path(const std::string& name) const { return path_ + "/" + name; }
  const std::string& root() const { return path_; }
  /// A directory in it, for everybody or for its owner alone.
  Result<std::string> directory(const std::string& name, unsigned mode) const;

 private:
  Scratch(client::OwnedFd lock, std::string path, std::vector<std::string> made)
      : lock_(std::move(lock)), path_(std::move(path)), made_(std::move(made)) {}

  client::OwnedFd lock_;  ///< held until the end
  std::string path_;      ///< empty: moved from
  std::vector<std::string>
      made_;  ///< of `parent` and its parents: removed where nothing is in them
};

/// The name of the private daemon's socket in a Scratch.
inline constexpr const char* scratch_socket = "run/s";

}  // namespace cellblock::cli
