#pragma once

#include <cstddef>
#include <string>

#include "policy/base/result.h"

/// A host's configuration on disk: the user's own file, which the host reads and writes too.
namespace cellblock::cli {

/// `~/.claude.json` keeps more than servers.
inline constexpr std::size_t max_host_file_bytes = 16U << 20;

/// An error: it is a link, no regular file, another user's, has a second name, or is too long.
Result<std::string> own_file(const std::string& path);
/// The same of another user's.
Result<std::string> file_of(const std::string& path, unsigned uid);

/// Puts `text` into its place at once, with its mode and group, if it still says `before`.
Result<void> replace_own_file(const std::string& path, const std::string& before,
                              const std::string& text);

// The backup: what a host's configuration said before cellblock changed it. It may hold secrets,
// and what it says is started after it is taken back. So only its user can read it, and it is not
// beside the file, where it would be committed with a project or come with one.

/// "$XDG_STATE_HOME/cellblock/hosts/DIGEST.json", for that file's whole path. An error: there is no
/// place for it.
Result<std::string> backup_of(const std::string& file);

bool has_backup(const std::string& file);
Result<std::string> read_backup(const std::string& file);
Result<void> write_backup(const std::string& file, const std::string& text);
/// Nothing to do where there is none.
Result<void> remove_backup(const std::string& file);

}  // namespace cellblock::cli
