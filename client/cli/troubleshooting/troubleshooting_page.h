#pragma once

#include <string_view>

namespace cellblock::cli {

/// docs/troubleshooting.md, whole. Its third-level headings are failure codes, verdicts, and errors
/// of a connection.
extern const std::string_view troubleshooting_page;

}  // namespace cellblock::cli
