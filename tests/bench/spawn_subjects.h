#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "supervisor/os/sys.h"
#include "tests/bench/times.h"

/// Ways to run /bin/true and wait for its end, each in a process of its own that does one at a
/// time when it is told to.
namespace cellblock::bench {

/// Runs it once; throws when it did not run, or did not end with 0.
using RunOnce = std::function<Nanoseconds()>;
/// What there is to do between two turns.
using Idle = std::function<void()>;
using AnswerTurns = std::function<void(const RunOnce& run, const Idle& idle)>;
using Serve = std::function<void(const AnswerTurns& answer_turns)>;

class SpawnSubject {
 public:
  /// `serve` runs in the new process, and is handed what answers each turn.
  SpawnSubject(std::string name, const Serve& serve);

  const std::string& name() const { return name_; }
  /// One turn.
  Nanoseconds run() const;

 private:
  std::string name_;
  Fd turns_;
  Fd answers_;
};

/// posix_spawn of these words, in an unconfined process.
SpawnSubject directly(std::string name, const std::vector<std::string>& command);

/// The launcher's own code: everything that `cellblockd` has done for a server's cell, from the
/// request to the report of its end.
enum class Networks : std::uint8_t { made_ahead, made_in_the_spawn };
SpawnSubject in_a_cell(std::string name, Networks networks);

}  // namespace cellblock::bench
