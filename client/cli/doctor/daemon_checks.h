#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/cli/common/context.h"
#include "policy/doctor/finding.h"

/// What is around cells: the daemon, its configuration, programs that servers are written for.
namespace cellblock::cli {

struct ProgramPlaces {
  std::string node;  ///< empty: nowhere
  std::string npm;
  std::string python;
  std::string chromium;
};

struct ConfigurationFacts {
  std::string path;
  bool is_there = false;
  bool is_usable = false;
  std::string report;  ///< of its check
};

struct DaemonFacts {
  Mode mode = Mode::user;
  std::string socket;
  std::string version;               ///< of this command
  std::optional<std::string> fault;  ///< why the daemon serves no client
  std::string daemon_version;        ///< as its clients are told; else empty
  /// None: it is the system's, and only root can check it.
  std::optional<ConfigurationFacts> configuration;
  ProgramPlaces programs;
  std::vector<std::string> missing_helpers;  ///< paths of programs that no daemon starts without
};

/// Pure.
std::vector<DoctorFinding> daemon_findings(const DaemonFacts& facts);

/// `context.mode` is the user's or the system's.
DaemonFacts gather_daemon_facts(const Context& context);

}  // namespace cellblock::cli
