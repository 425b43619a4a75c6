#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <vector>

#include "client/cli/audit/audit_options.h"
#include "client/cli/audit/line_text.h"
#include "client/cli/audit/log_files.h"
#include "client/cli/terminal/style.h"
#include "client/cli/tools/tools.h"
#include "policy/audit/log_verifier.h"

// Whether the audit log is whole and unchanged: it needs the digests that other commands do
// without.
namespace cellblock::cli {

Exit run_audit_verify(const Context& context, const Words& words) {
  std::optional<audit::ChainPoint> anchor;
  if (const auto written = words.text(anchor_option); !written.empty()) {
    const auto read = read_anchor(written);
    if (!read) return audit_failure(context, read.error(), Exit::usage);
    anchor = *read;
  }
  const auto files = log_files(audit_log_in(context, words));
  if (!files) return audit_failure(context, files.error(), Exit::error);
  audit::LogVerifier verifier(anchor);
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
  return report.broken == 0 && report.lost == 0 ? Exit::ok : Exit::audit_broken;
}

}  // namespace cellblock::cli
