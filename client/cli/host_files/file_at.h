#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <cstddef>
#include <string>

#include "client/connection/fd.h"
#include "policy/base/result.h"

/// Files that are the user's own, read and put in place without following a link.
namespace cellblock::cli {

struct FileAt {
  std::string path;          ///< as people are told of it
  std::string name;          ///< in that directory
  int directory = AT_FDCWD;  ///< open
};

struct OwnFile {
  std::string text;
  struct stat status{};
};

/// An error: it is a link, no regular file, another user's, has a second name, or is longer.
Result<OwnFile> read_own(const FileAt& file, std::size_t most);

/// Puts `text` into its place at once, with the mode and group of `attributes`.
Result<void> put_own(const FileAt& file, const std::string& text, const struct stat& attributes);

/// Why it cannot be used, by errno.
std::unexpected<Error> file_failed(const std::string& path, int error);

}  // namespace cellblock::cli
