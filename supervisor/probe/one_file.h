#pragma once

#include <fcntl.h>

#include "supervisor/probe/attempt.h"
#include "supervisor/probe/files_at_hand.h"

/// Attempts on one file, as tables of attempts take them.
namespace cellblock::probe {

template <const char* path>
Outcome read_it(const Setting& /*setting*/) {
  return try_read(path);
}

template <const char* path>
Outcome write_it(const Setting& /*setting*/) {
  return try_open(path, O_WRONLY);
}

}  // namespace cellblock::probe
