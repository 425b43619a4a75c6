#include "tests/integration/test_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <system_error>

namespace cellblock::harness {
namespace {

namespace fs = std::filesystem;

fs::path make_root() {
  // /tmp will not do: it can be written by everybody, and a cell has its own.
  const char* home = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe): nothing sets it here
  const fs::path parent = ::geteuid() == 0 ? "/var/lib" : fs::path(home ? home : "/") / ".cache";
  fs::create_directories(parent);
  std::string pattern = parent / "cellblock-test.XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw fs::filesystem_error("mkdtemp", pattern, {errno, std::generic_category()});
  }
  return pattern;
}

// Elsewhere than on the machine that built them (tests/system) they are where that says.
fs::path built_programs() {
  const char* elsewhere = std::getenv("CELLBLOCK_TEST_BIN");  // NOLINT(concurrency-mt-unsafe)
  return elsewhere != nullptr ? elsewhere : CELLBLOCK_TEST_BIN;
}

}  // namespace

TestDirectory::TestDirectory(uid_t owner) : owner_(owner), root_(make_root()) {
  fs::permissions(root_, static_cast<fs::perms>(0755));
  give_away(root_);
}

TestDirectory::~TestDirectory() {
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

std::string TestDirectory::path(std::string_view name) const {
  return name.empty() ? root_ : root_ / name;
}

std::string TestDirectory::write(std::string_view name, std::string_view content,
                                 unsigned mode) const {
  const fs::path file = root_ / name;
  if (file.parent_path() != root_)
    make_directory(file.parent_path().lexically_relative(root_).string());
  std::ofstream(file, std::ios::binary) << content;
  fs::permissions(file, static_cast<fs::perms>(mode));
  give_away(file);
  return file;
}

std::string TestDirectory::make_directory(std::string_view name, unsigned mode) const {
  const fs::path directory = root_ / name;
  if (!fs::create_directories(directory)) return directory;
  fs::permissions(directory, static_cast<fs::perms>(mode));
  give_away(directory);
  return directory;
}

std::string TestDirectory::install(std::string_view program) const {
  const fs::path copy = fs::path(make_directory("bin")) / program;
  if (fs::exists(copy)) return copy;
  fs::copy_file(built_programs() / program, copy);
  fs::permissions(copy, static_cast<fs::perms>(0755));
  give_away(copy);
  return copy;
}

void TestDirectory::give_away(const fs::path& path) const {
  if (::geteuid() == 0 && ::chown(path.c_str(), owner_, owner_) != 0) {
    throw fs::filesystem_error("chown", path, {errno, std::generic_category()});
  }
}

}  // namespace cellblock::harness
