#pragma once

#include <optional>
#include <string>
#include <vector>

#include "policy/sandbox/probe_declaration.h"
#include "supervisor/probe/attempt.h"

namespace cellblock::probe {

enum class With : std::uint8_t { no, yes };

/// What is to be run.
struct Selection {
  std::vector<std::string> only;  ///< ids; empty: all
  With bombs = With::no;
  With fatal = With::no;
  Targets targets;
};

struct Tried {
  AttemptClass kind{};
  const Attempt* attempt = nullptr;
  Outcome outcome;
};

/// The first id in `only` that no attempt has.
std::optional<std::string> unknown_id(const Selection& selection);

/// Each attempt in a process of its own, one after another, with a bound on its time.
std::vector<Tried> run(const Selection& selection);

}  // namespace cellblock::probe
