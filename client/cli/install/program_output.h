#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "policy/base/result.h"

/// Runs a program of this machine for what it prints. As root only one that no other user can
/// change.
namespace cellblock::cli {

/// The program itself, given back. An error where root asks: others may change it, or a directory
/// on its path.
Result<std::string> trusted_program(const std::string& program);

/// The first of that name in PATH that may be executed, through all links, trusted. Empty: there is
/// none.
Result<std::string> program_in_path(const std::string& name);

struct ProgramOutput {
  std::string text;  ///< stdout, and stderr where it is caught; at most 1 MiB
  int status = 0;    ///< its exit code; 128 and the signal where one ended it
};

enum class Errors : std::uint8_t { passed_on, caught };

/// Runs a program to its end, found in PATH, in the directory / and with an empty stdin. An
/// error: it cannot be run.
Result<ProgramOutput> output_of(const std::vector<std::string>& words, Errors errors);

}  // namespace cellblock::cli
