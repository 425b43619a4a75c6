#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "client/cli/terminal/style.h"

namespace cellblock::cli {

struct ProbeReport {
  std::string text;  ///< for a terminal; everything in it is escaped
  std::size_t held = 0;
  std::size_t unexpected = 0;  ///< open, and the declaration does not say so; or unclear
  bool readable = false;       ///< false: the answer is not what the probe answers
};

/// The structuredContent of the probe's tool as text: counts per class, then what is open, with its
/// meaning and what declares it, then what is open though nothing declares it.
ProbeReport probe_report(std::string_view result_json, Style style, std::size_t columns);

}  // namespace cellblock::cli
