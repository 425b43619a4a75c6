#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>

/// A directory that passes cellblock's own checks: every directory above it belongs to root (or to
/// its owner) and can be changed by nobody else. Gone with the object.
namespace cellblock::harness {

class TestDirectory {
 public:
  /// Under /var/lib as root, else under the home directory. Mode 0755, owned by `owner` if the
  /// caller may give files away. Throws std::filesystem::filesystem_error.
  explicit TestDirectory(uid_t owner = 0);
  ~TestDirectory();
  TestDirectory(const TestDirectory&) = delete;
  TestDirectory& operator=(const TestDirectory&) = delete;

  std::string path(std::string_view name = "") const;

  /// Writes a file, its directories included, all owned by the owner. Gives its path back.
  std::string write(std::string_view name, std::string_view content, unsigned mode = 0644) const;

  /// Makes a directory owned by the owner.
  std::string make_directory(std::string_view name, unsigned mode = 0755) const;

  /// A copy of a program of this build, in `bin/`, where the cells' users can reach it.
  std::string install(std::string_view program) const;

  uid_t owner() const { return owner_; }

 private:
  void give_away(const std::filesystem::path& path) const;

  uid_t owner_;
  std::filesystem::path root_;
};

}  // namespace cellblock::harness
