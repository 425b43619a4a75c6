#pragma once

/// What the C++ headers of the library need: said in one line, and not by a page of template names.
#if !defined(__cplusplus) || __cplusplus < 202002L
#error \
    "libcellblock-client needs C++20 or later: compile with -std=c++20 (in C: cellblock/cellblock.h)"
// Nothing behind this is read.
#include <cellblock/needs_cxx20>
#endif
