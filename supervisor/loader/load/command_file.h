#pragma once

#include <sys/types.h>

#include <span>
#include <string>

#include "policy/base/result.h"
#include "policy/config/config.h"
#include "policy/config/host_facts.h"
#include "policy/config_check/facts_wanted.h"
#include "supervisor/loader/load/trusted_path.h"

/// Finds the host's file behind a command that is named by its path inside the cell: its digest,
/// the users who can change it, and the tree around it.
namespace cellblock {

struct FileDigest {
  std::string sha256;  ///< lower-case hex
  FileStamp stamp;
};

/// Reads a regular file of at most 4 GiB. An error: the file changed meanwhile. Blocking.
Result<FileDigest> digest_of(const TrustedFile& file);

/// Follows the path through the binds and all links, and checks each opened descriptor on the way.
CommandFacts look_at_command(const CommandWanted& command, std::span<const uid_t> owners);

/// As look_at_command(), for a program of the host itself, without arguments and digest.
CommandFacts look_at_host_command(const std::string& path, std::span<const uid_t> owners);

/// How links in a tree are checked. Links of an image never leave the image when they are followed.
enum class LinkTargets { judged, within };

/// Checks a directory that a server is installed in: every entry at any depth must be owned by one
/// of `owners`, writable by no other user, and no device, socket or pipe; a link must lead to a
/// target as trusted (LinkTargets::judged). At most 200000 entries, 64 levels. Walks by descriptors
/// and follows no link on the way down. Blocking.
ProgramFacts look_at_program(const std::string& path, std::span<const uid_t> owners,
                             LinkTargets links = LinkTargets::judged);

}  // namespace cellblock
