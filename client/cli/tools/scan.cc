#include "client/cli/tool_rows/scan.h"

#include <fmt/format.h>
#include <pwd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "client/cli/import/read/bounded_file.h"
#include "client/cli/scan/configured_servers.h"
#include "client/cli/scan/listening_servers.h"
#include "client/cli/scan/running_servers.h"
#include "client/cli/scan/scan_as_user.h"
#include "client/cli/scan/scan_text.h"
#include "client/cli/terminal/style.h"
#include "client/cli/terminal/terminal_text.h"
#include "client/cli/tools/tools.h"

// MCP servers outside cells.
namespace cellblock::cli {
namespace {

constexpr std::size_t most_scan_bytes = 16U << 20;

std::string user_of(unsigned uid) {
  const passwd* entry = ::getpwuid(uid);  // NOLINT(concurrency-mt-unsafe): one thread
  return entry == nullptr ? std::to_string(uid) : entry->pw_name;
}

// Whose files could not be looked at is told, and makes no scan a clean one.
struct Outside {
  std::vector<ScanFinding> findings;
  bool is_whole = true;
};

Outside all_outside(bool probes) {
  std::error_code ignored;
  const std::string here = std::filesystem::current_path(ignored).string();
  Outside outside;
  std::vector<ScanFinding>& all = outside.findings;
  const auto users = scanned_users();
  if (users.empty()) {
    outside.is_whole = false;
    fmt::print(stderr, "cellblock: no home directory is known here: set HOME\n");
  }
  for (const ScannedUser& user : users) {
    auto found = configured_as(user, here);
    if (found) {
      std::ranges::move(*found, std::back_inserter(all));
      continue;
    }
    outside.is_whole = false;
    fmt::print(stderr, "cellblock: {}: {}\n", safe_line(user.name), found.error().text);
  }
  std::ranges::move(running_servers(seen_processes(), user_of), std::back_inserter(all));
  if (probes) {
    std::ranges::move(listening_servers(listeners_here(), user_of), std::back_inserter(all));
  }
  return outside;
}

Exit exit_of(bool is_outside, const Outside& outside) {
  if (is_outside) return Exit::outside;
  return outside.is_whole ? Exit::ok : Exit::error;
}

Exit show_difference(const Context& context, const std::string& file, const Outside& outside) {
  const std::vector<ScanFinding>& now = outside.findings;
  const auto text = bounded_file(file, most_scan_bytes);
  if (!text) return cannot(context, text.error().text);
  const auto before = read_scan(*text);
  if (!before) return cannot(context, fmt::format("{}: {}", safe_line(file), before.error().text));
  const ScanDifference difference = difference_of(*before, now);
  if (context.output == Output::json) {
    print_json(scan_json(now, difference));
  } else {
    fmt::print("{}", difference_text(difference, Style::for_stdout(), terminal_width()));
  }
  return exit_of(!difference.fresh.empty(), outside);
}

}  // namespace

Exit run_scan(const Context& context, const Words& words) {
  const Outside outside = all_outside(words.has(scan_probe));
  if (words.has(scan_against)) return show_difference(context, words.text(scan_against), outside);
  const std::vector<ScanFinding>& findings = outside.findings;
  if (context.output == Output::json) {
    print_json(scan_json(findings));
  } else {
    fmt::print("{}", scan_text(findings, Style::for_stdout(), terminal_width()));
  }
  return exit_of(!findings.empty(), outside);
}

}  // namespace cellblock::cli
