#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "policy/base/result.h"
#include "supervisor/os/sys.h"

/// Opens a path one component at a time and checks each opened descriptor, so that the checked file
/// is the used one. The walk follows links itself: the target's directories are checked too.
namespace cellblock {

/// Why a path is not to be trusted, or could not be opened.
struct WalkFailure {
  /// hidden: a cell does not see the host's path; closed: this process may not look there
  enum class Kind { missing, unsafe, hidden, closed, failed } kind{};
  std::string text;
};

struct TrustedFile {
  Fd fd;  ///< O_PATH: reopen with reopen_for_reading
  struct stat status{};
  std::string path;  ///< after all links
};

enum class LastLink {
  follow,
  refuse,
  open,  ///< the link itself, owned by one of `owners`
};

struct WalkRules {
  std::span<const uid_t> owners;  ///< uids that may own the file and every directory above it
  LastLink last_link = LastLink::follow;
};

/// Directories above must be owned by one of `owners` and writable by no other user. A sticky
/// directory of root's (/tmp) passes too: no other user can rename or replace an entry of `owners`
/// in it. The file itself is not checked: see unsafe_owner_or_mode().
std::expected<TrustedFile, WalkFailure> open_trusted(const std::string& path,
                                                     const WalkRules& rules);

/// "is owned by uid 1000", "is writable by its group"; nullopt: only `owners` can change it. An ACL
/// that grants write access shows as a group bit.
std::optional<std::string> unsafe_owner_or_mode(const struct stat& status,
                                                std::span<const uid_t> owners);

/// Advice for a file or directory of `owner` that this process may not read.
std::string closed_text(uid_t owner);

SysResult<std::string> link_target(const Fd& link);

SysResult<Fd> reopen_for_reading(const TrustedFile& file);

}  // namespace cellblock
