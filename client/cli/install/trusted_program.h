#pragma once

#include <string>

#include "policy/base/result.h"

namespace cellblock::cli {

/// The program itself, given back. An error where root asks: others may change it, or a directory
/// on its path.
Result<std::string> trusted_program(const std::string& program);

/// The first of that name in PATH that may be executed, through all links, trusted. Empty: there is
/// none.
Result<std::string> program_in_path(const std::string& name);

}  // namespace cellblock::cli
