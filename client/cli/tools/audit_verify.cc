#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>
#include <utility>

#include "client/cli/audit/audit_options.h"
#include "client/cli/audit/line_text.h"
#include "client/cli/audit/log_files.h"
#include "client/cli/terminal/style.h"
#include "client/cli/tools/anchor_files.h"
#include "client/cli/tools/tools.h"
#include "policy/audit/anchor.h"
#include "policy/audit/log_verifier.h"
#include "policy/audit/signed_anchor.h"

// Whether the audit log is whole and unchanged: it needs the digests that other commands do
// without.
namespace cellblock::cli {
namespace {

// With a public key alone it is the anchors that are asked about: their log is on another machine.
bool compares_log(const Words& words) {
  return !words.has(public_key_option) || words.has(audit_log_option);
}

// Who has a key says of a log that it goes on from the anchors: with none of them there, it need
// not.
audit::Grade grade_of_none_met(const Words& words) {
  const bool has_key = words.has(sign_option) || words.has(public_key_option);
  return has_key ? audit::Grade::broken : audit::Grade::interrupted;
}

Result<audit::LogReport> report_of_log(const Context& context, const Words& words,
                                       const KnownAnchors& known) {
  audit::LogVerifier verifier(known.points, grade_of_none_met(words));
  const LineTaker taker{.line = [&verifier](std::string_view line) { verifier.line(line); },
                        .rest = [&verifier](std::string_view bytes) { verifier.rest(bytes); }};
  const auto path = audit_log_in(context, words);
  const auto files = CELLBLOCK_TRY(log_files(path));
  for (const LogFile& file : files) {
    verifier.begin_file(file.path);
    (void)CELLBLOCK_TRY(read_lines(file.path, 0, taker));
  }
  audit::LogReport report = verifier.finish();
  for (auto& finding : report.findings) {
    if (finding.file.empty()) finding.file = path;  // no file has a line
  }
  return report;
}

audit::LogReport report_of_anchors(const KnownAnchors& known) {
  audit::LogReport report;
  if (!known.points.empty()) report.last = known.points.back();
  return report;
}

// What is wrong with the anchors stands before what is wrong with the log.
void add_findings(const KnownAnchors& known, audit::LogReport& report) {
  report.broken += known.findings.size();
  report.findings.insert(report.findings.begin(), known.findings.begin(), known.findings.end());
  if (report.findings.size() <= audit::LogVerifier::most_findings) return;
  report.more_findings += report.findings.size() - audit::LogVerifier::most_findings;
  report.findings.resize(audit::LogVerifier::most_findings);
}

AnchorReport anchors_reported(const Words& words, const AnchorKeys& keys,
                              const KnownAnchors& known) {
  AnchorReport report{.key = keys.verifying ? keys.verifying->id() : "",
                      .good = known.anchors.size(),
                      .last_time = {},
                      .fresh = {},
                      .has_log = compares_log(words)};
  if (!known.anchors.empty()) report.last_time = known.anchors.back().time;
  return report;
}

std::string now_in_utc() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

void print_report(const Context& context, const audit::LogReport& report,
                  const AnchorReport& anchors) {
  if (context.output == Output::json) {
    print_json(report_json(report, anchors));
  } else {
    fmt::print("{}", report_text(report, anchors, Style::for_stdout()));
  }
}

bool is_broken(const audit::LogReport& report) { return report.broken != 0 || report.lost != 0; }

Result<void> sign(const audit::LogReport& report, const SigningKey& key, AnchorReport& anchors) {
  auto fresh = CELLBLOCK_TRY(audit::sign_anchor(report.last, now_in_utc(), key));
  anchors.fresh = std::move(fresh.line);
  return {};
}

// A whole log's anchor is what the next check goes on from.
Result<void> keep(const Words& words, const audit::LogReport& report, const KnownAnchors& known,
                  const AnchorReport& anchors) {
  const std::string file = words.text(anchor_file_option);
  const bool is_only_read = words.has(public_key_option);
  if (file.empty() || is_only_read || report.last.sequence == 0) return {};
  const auto kept = keep_anchor(
      file, known.anchors, anchors.fresh.empty() ? audit::anchor_text(report.last) : anchors.fresh);
  if (!kept) return fail("the anchor was not kept: " + kept.error().text);
  return {};
}

}  // namespace

Exit run_audit_verify(const Context& context, const Words& words) {
  const auto keys = anchor_keys_in(words);
  if (!keys) return audit_failure(context, keys.error(), Exit::usage);
  const auto known = known_anchors_in(words, *keys);
  if (!known) return audit_failure(context, known.error(), Exit::usage);
  auto report = compares_log(words) ? report_of_log(context, words, *known)
                                    : Result<audit::LogReport>(report_of_anchors(*known));
  if (!report) return audit_failure(context, report.error(), Exit::error);
  add_findings(*known, *report);
  AnchorReport anchors = anchors_reported(words, *keys, *known);
  const bool is_sound = !is_broken(*report);
  if (is_sound && keys->signing && report->last.sequence != 0) {
    const auto done = sign(*report, *keys->signing, anchors);
    if (!done) return audit_failure(context, done.error(), Exit::error);
  }
  print_report(context, *report, anchors);
  if (!is_sound) return Exit::audit_broken;
  const auto kept = keep(words, *report, *known, anchors);
  return kept ? Exit::ok : audit_failure(context, kept.error(), Exit::error);
}

}  // namespace cellblock::cli
