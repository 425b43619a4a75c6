#pragma once

#include <cstdlib>

/// For fuzz targets: a broken property is a crash that libFuzzer keeps the input of.
#define CELLBLOCK_FUZZ_CHECK(condition) \
  do {                                  \
    if (!(condition)) std::abort();     \
  } while (false)
