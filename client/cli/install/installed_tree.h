#pragma once

#include <cstdint>
#include <string>

#include "policy/base/result.h"

/// What an installation left: a stranger's files, at rest by the time that they are looked at.
namespace cellblock::cli {

/// An error: more than 200,000 entries, which is as many as `program` takes, or than 2 GiB; or a
/// directory that cannot be read, in which there could be more.
Result<void> check_bounds(const std::string& tree);

/// Files and directories in it may be changed by everybody. Links are left alone.
Result<void> open_to_all(const std::string& tree);

enum class TreeKind : std::uint8_t {
  package,
  /// Links are copied wherever they lead, since they are followed in a cell with this root alone.
  /// What may be read or executed by its owner may be by everybody. Set-id bits are left out.
  image,
};

/// Copies plain files, directories and links that stay inside to `destination`, which must not be
/// there: owned by us, writable by nobody else. An error: anything else is in it (a device; in a
/// package a set-user-ID file, a link that leads out), or it is out of bounds; what was copied is
/// then removed.
Result<void> copy_tree(const std::string& tree, const std::string& destination,
                       TreeKind kind = TreeKind::package);

}  // namespace cellblock::cli
