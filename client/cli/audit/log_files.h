#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "client/cli/programs/configuration.h"
#include "policy/base/result.h"

/// The audit log's files, read where they are: only who may read them (root, or with --user you)
/// can.
namespace cellblock::cli {

/// The audit log's path: daemon.audit_log of this configuration if it can be read here, else the
/// default of its daemon.
std::string audit_log_path(const Configuration& configuration);

struct LogFile {
  std::string path;
  std::uint64_t first = 0;  ///< number of its first line; 0: none is whole
  std::int64_t since = 0;   ///< when that line was written, in Unix time; 0: not known
};

/// The files that have lines, the oldest first. An error names what cannot be read, and what to do.
Result<std::vector<LogFile>> log_files(const std::string& path);

struct LineTaker {
  std::function<void(std::string_view line)> line;   ///< without its newline
  std::function<void(std::string_view bytes)> rest;  ///< what comes after the last one, in pieces
};

/// Reads from `offset` on. Returns where the last whole line ends. A line longer than any of the
/// log's is cut into several.
Result<std::uint64_t> read_lines(const std::string& path, std::uint64_t offset,
                                 const LineTaker& taker);

/// Calls with each line that is added to the log at `path` after line `last`, file after file,
/// until reading fails or a signal ends the command.
Result<void> follow_log(const std::string& path, std::uint64_t last,
                        const std::function<void(std::string_view line)>& take);

}  // namespace cellblock::cli
