#pragma once

#include <sys/types.h>

#include <span>
#include <string>

#include "policy/base/result.h"
#include "policy/config/config.h"
#include "policy/config/host_facts.h"
#include "policy/config_check/facts_wanted.h"
#include "supervisor/daemon/load/trusted_path.h"

/// The host's file behind a command that is named by its path inside the cell: its digest, who can
/// change it, and the tree that it lies in.
namespace cellblock {

struct FileDigest {
  std::string sha256;  ///< lower-case hex
  FileStamp stamp;
};

/// Of a regular file of at most 4 GiB that did not change meanwhile. Blocking.
Result<FileDigest> digest_of(const TrustedFile& file);

/// Follows the path through the binds and all links, and judges each descriptor on the way.
CommandFacts look_at_command(const CommandWanted& command, std::span<const uid_t> owners);

/// A program of the host itself, by the same rules; without arguments and digest.
CommandFacts look_at_host_command(const std::string& path, std::span<const uid_t> owners);

/// Where the links of a tree lead: within an image they never leave it when they are followed.
enum class LinkTargets { judged, within };

/// Judges a directory that a server is installed in: every entry at any depth must be owned by one
/// of `owners` and writable by nobody else, no device, socket or pipe, and a link must lead to
/// something as trusted (LinkTargets::judged). At most 200000 entries, 64 levels. By descriptor; no
/// link is followed on the way down. Blocking.
ProgramFacts look_at_program(const std::string& path, std::span<const uid_t> owners,
                             LinkTargets links = LinkTargets::judged);

}  // namespace cellblock
