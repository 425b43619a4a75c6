#pragma once

#include <string>

#include "supervisor/probe/outcome.h"

/// Running what was written a moment ago.
namespace cellblock::probe {

/// The bytes of an ELF program of this machine that does nothing but exit with `small_exit_code`.
std::string small_program();
inline constexpr int small_exit_code = 42;

/// Writes it to `directory`, runs it, and removes it.
Outcome run_written_program(const std::string& directory);

/// The same without any file.
Outcome run_program_from_memory();

/// Maps a file of `directory` with PROT_EXEC: running it without exec.
Outcome map_written_program(const std::string& directory);

}  // namespace cellblock::probe
