#pragma once

#include <string>

#include "policy/base/result.h"

/// What a host's configuration said before cellblock changed it. It may hold secrets, and what it
/// says is what is started after it is taken back: it is kept for its user alone, and not beside
/// the file, where it would be committed with a project, or come with one.
namespace cellblock::cli {

/// "$XDG_STATE_HOME/cellblock/hosts/DIGEST.json", for that file's whole path. An error: there is no
/// place for it.
Result<std::string> backup_of(const std::string& file);

bool has_backup(const std::string& file);
Result<std::string> read_backup(const std::string& file);
Result<void> write_backup(const std::string& file, const std::string& text);
/// Nothing to do where there is none.
Result<void> remove_backup(const std::string& file);

}  // namespace cellblock::cli
