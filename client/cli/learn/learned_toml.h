#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/cli/learn/learned_paths.h"
#include "client/cli/learn/observed.h"

namespace cellblock::cli {

/// What is put into words.
struct Learned {
  std::string server;
  std::vector<LearnedPath> paths;
  std::vector<RefusedOperation> operations;
  std::uint64_t left_out = 0;  ///< things that did not fit into the lists
  std::string network;         ///< as declared: "none", "egress"
  /// Ports of the loopback that `egress.allow` does not name yet.
  std::vector<MissedPort> loopback_ports;
};

/// A TOML fragment for an administrator: additions to that server, each with a comment on what
/// asked for it and how often. What is not advised is a comment. Valid TOML for anything that the
/// server tried or said. Pure.
std::string learned_toml(const Learned& learned);

/// Whether it has a line that is no comment.
bool has_advice(const Learned& learned);

}  // namespace cellblock::cli
