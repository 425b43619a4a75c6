#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "policy/base/result.h"

namespace cellblock::cli {

enum class ProgramInput : std::uint8_t { empty, ours };

/// How another program is started. No signal is held back from it, and it has
/// no descriptor of ours but those named here.
struct ProgramStart {
  std::vector<std::string> words;  ///< the first is looked up in PATH unless it is a path
  int output = -1;                 ///< its stdout; -1: ours
  int errors = -1;                 ///< its stderr; -1: ours
  std::string directory = {};      ///< in which it starts; empty: ours
  /// NAME=VALUE; none: ours.
  std::optional<std::vector<std::string>> environment = std::nullopt;
  ProgramInput input = ProgramInput::empty;
  bool has_own_group = false;  ///< signals of the terminal do not reach it
};

/// Starts it. An error: it cannot be run.
Result<pid_t> start_program(const ProgramStart& start);

/// The variable of our own environment; empty where there is none.
std::string environment_variable(const char* name);
/// NAME=VALUE for those of `names` that our own environment has.
std::vector<std::string> variables_of_ours(const std::vector<const char*>& names);

}  // namespace cellblock::cli
