#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "client/cli/common/context.h"
#include "policy/base/result.h"
#include "policy/doctor/finding.h"

/// `cellblock doctor` tries a whole cell in a directory of its own.
namespace cellblock::cli {

enum class TrialOf : std::uint8_t { user, root };

/// The directory of a trial cell; removed at the end. Not below the directory of installed servers:
/// a look at a machine makes no directories there.
class TrialDirectory {
 public:
  /// For a user in TMPDIR. For root in /run, else in /tmp, whatever the environment says: sudo may
  /// keep the caller's, who must not choose the directory that root changes.
  static Result<TrialDirectory> make(TrialOf whose);
  TrialDirectory(TrialDirectory&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TrialDirectory& operator=(TrialDirectory&&) = delete;
  TrialDirectory(const TrialDirectory&) = delete;
  TrialDirectory& operator=(const TrialDirectory&) = delete;
  ~TrialDirectory();

  const std::string& path() const { return path_; }

 private:
  explicit TrialDirectory(std::string path) : path_(std::move(path)) {}

  std::string path_;  ///< empty: moved from
};

/// Makes a whole cell: a daemon of the command's own starts cellblock's probe in one, and has to
/// get an answer out of it. Nothing is left. `context.mode` is the user's, or, for root, the
/// system's.
DoctorFinding cell_finding(const Context& context);

/// The finding about the system's cells for a user who is not root.
DoctorFinding untried_cell();

}  // namespace cellblock::cli
