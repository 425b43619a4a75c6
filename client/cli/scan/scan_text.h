#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "client/cli/scan/scan_finding.h"
#include "client/cli/terminal/style.h"
#include "policy/base/result.h"

/// What `cellblock scan` prints, and reads back to compare.
namespace cellblock::cli {

/// A table, what they can reach, and the commands that bring them in, each once. `width`: of the
/// terminal; 0: no bound.
std::string scan_text(const std::vector<ScanFinding>& findings, Style style, std::size_t width);

/// What has come and what is gone since `before`.
std::string difference_text(const ScanDifference& difference, Style style, std::size_t width);

/// {"outside": […]}, in one line.
std::string scan_json(const std::vector<ScanFinding>& findings);
/// {"outside": […], "new": […], "gone": […]}.
std::string scan_json(const std::vector<ScanFinding>& findings, const ScanDifference& difference);

/// What scan_json() made: `outside`. Untrusted text. An error: it is nothing of the kind.
Result<std::vector<ScanFinding>> read_scan(const std::string& json);

}  // namespace cellblock::cli
