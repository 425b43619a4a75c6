#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "supervisor/audit/audit_line.h"
#include "supervisor/os/sys.h"

namespace cellblock::audit {

/// The files that a writer is started with (wire::audit_fd).
struct LogFiles {
  Fd log;
  Fd written;
  Fd former;
};

/// One file of the log being written, and the chain that goes through all of them. After an error
/// nothing more may be added: what is in the file is known to the next writer only.
class ChainedLog {
 public:
  /// Finds where the log ends and begins behind it, with a line that says so. `boot` outlives it.
  static Result<ChainedLog> open(LogFiles files, std::string_view boot,
                                 wire::Durability durability);

  /// One line, kept until write().
  Result<void> add(std::string_view fields);
  /// All that was added, in one call. Then it is in the log whole.
  Result<void> write();
  std::uint64_t bytes() const { return bytes_; }
  /// The last line that was added.
  const ChainPoint& end() const { return at_; }

  /// Closes this file with a line that says why.
  Result<void> close(std::string_view reason);
  /// From now on into that file, which is empty.
  Result<void> go_on_in(Fd log);

 private:
  ChainedLog(Fd log, std::string_view boot, wire::Durability durability)
      : log_(std::move(log)), boot_(boot), durability_(durability) {}
  Result<void> begin(std::string_view reason, std::string_view torn);

  Fd log_;
  std::string_view boot_;
  wire::Durability durability_;
  ChainPoint at_;
  std::uint64_t bytes_ = 0;  ///< in the file
  std::string waiting_;
};

}  // namespace cellblock::audit
