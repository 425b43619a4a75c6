#pragma once

#include <sys/types.h>

#include <span>
#include <string>

#include "policy/config/host_facts.h"

namespace cellblock {

/// Where the links of a tree lead: within an image they never leave it when they are followed.
enum class LinkTargets { judged, within };

/// Judges a directory that a server is installed in: every entry at any depth must be owned by one
/// of `owners` and writable by nobody else, no device, socket or pipe, and a link must lead to
/// something as trusted (LinkTargets::judged). At most 200000 entries, 64 levels. By descriptor; no
/// link is followed on the way down. Blocking.
ProgramFacts look_at_program(const std::string& path, std::span<const uid_t> owners,
                             LinkTargets links = LinkTargets::judged);

}  // namespace cellblock
