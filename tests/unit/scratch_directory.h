#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace cellblock {

/// An empty directory of this process's own, mode 0700, gone at the end.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::string pattern = "/tmp/cellblock-test-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) ADD_FAILURE() << "mkdtemp";
    path_ = pattern;
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  const std::string& path() const { return path_; }

  std::string make_directory(const std::string& name, mode_t mode) const {
    std::string path = path_ + "/" + name;
    EXPECT_EQ(::mkdir(path.c_str(), 0700), 0);
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);  // past the umask
    return path;
  }

  std::string write(const std::string& name, std::string_view content, mode_t mode) const {
    std::string path = path_ + "/" + name;
    std::ofstream(path, std::ios::binary) << content;
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }

 private:
  std::string path_;
};

}  // namespace cellblock
