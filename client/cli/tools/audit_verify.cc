#include <fmt/format.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "client/cli/audit/audit_options.h"
#include "client/cli/audit/line_text.h"
#include "client/cli/audit/log_files.h"
#include "client/cli/import/read/bounded_file.h"
#include "client/cli/terminal/style.h"
#include "client/cli/tools/tools.h"
#include "policy/audit/log_verifier.h"

// Whether the audit log is whole and unchanged: it needs the digests that other commands do
// without.
namespace cellblock::cli {
namespace {

using Anchor = std::optional<audit::ChainPoint>;

// None yet is the first time.
Result<Anchor> anchor_in_file(const std::string& path) {
  constexpr std::size_t most_bytes = 256;
  std::error_code unknown;
  const auto kind = std::filesystem::status(path, unknown).type();
  if (kind == std::filesystem::file_type::not_found) return Anchor();
  const std::string text = CELLBLOCK_TRY(bounded_file(path, most_bytes));
  const auto read = read_anchor(text.substr(0, text.find('\n')));
  if (!read) return fail(fmt::format("{}: {}", path, read.error().text));
  return Anchor(*read);
}

Result<Anchor> anchor_in(const Words& words) {
  if (const auto file = words.text(anchor_file_option); !file.empty()) return anchor_in_file(file);
  const auto written = words.text(anchor_option);
  if (written.empty()) return Anchor();
  return Anchor(CELLBLOCK_TRY(read_anchor(written)));
}

// Whole or not at all: a half of one would be no anchor tomorrow.
Result<void> keep_anchor(const std::string& path, const audit::ChainPoint& point) {
  const std::string fresh = path + ".new";
  {
    std::ofstream file(fresh, std::ios::trunc);
    file << anchor_text(point) << '\n';
    if (!file.flush()) return fail(fmt::format("{}: cannot be written", fresh));
  }
  if (std::rename(fresh.c_str(), path.c_str()) == 0) return {};
  return fail(fmt::format("{}: {}", path, std::generic_category().message(errno)));
}

}  // namespace

Exit run_audit_verify(const Context& context, const Words& words) {
  const auto anchor = anchor_in(words);
  if (!anchor) return audit_failure(context, anchor.error(), Exit::usage);
  const auto files = log_files(audit_log_in(context, words));
  if (!files) return audit_failure(context, files.error(), Exit::error);
  audit::LogVerifier verifier(*anchor);
  const LineTaker taker{.line = [&verifier](std::string_view line) { verifier.line(line); },
                        .rest = [&verifier](std::string_view bytes) { verifier.rest(bytes); }};
  for (const LogFile& file : *files) {
    verifier.begin_file(file.path);
    const auto read = read_lines(file.path, 0, taker);
    if (!read) return audit_failure(context, read.error(), Exit::error);
  }
  const audit::LogReport report = verifier.finish();
  if (context.output == Output::json) {
    print_json(report_json(report));
  } else {
    fmt::print("{}", report_text(report, Style::for_stdout()));
  }
  if (report.broken != 0 || report.lost != 0) return Exit::audit_broken;
  const std::string file = words.text(anchor_file_option);
  if (file.empty() || report.last.sequence == 0) return Exit::ok;
  const auto kept = keep_anchor(file, report.last);
  return kept ? Exit::ok : audit_failure(context, kept.error(), Exit::error);
}

}  // namespace cellblock::cli
