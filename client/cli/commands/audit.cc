#include <fmt/format.h>
#include <pwd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <deque>
#include <nlohmann/json.hpp>

#include "client/cli/audit/filter.h"
#include "client/cli/audit/follower.h"
#include "client/cli/audit/line_text.h"
#include "client/cli/audit/log_files.h"
#include "client/cli/audit/log_path.h"
#include "client/cli/audit/report_text.h"
#include "client/cli/commands/commands.h"
#include "client/cli/terminal/terminal_text.h"
#include "policy/audit/log_verifier.h"

// The audit log, read where it lies: no daemon is asked.
namespace cellblock::cli {
namespace {

using PlainJson = nlohmann::json;

Exit tell(const Context& context, const Error& error, Exit exit) {
  fmt::print(stderr, "cellblock: {}\n", safe_text(error.text));
  if (context.output == Output::json) {
    print_json(
        PlainJson{{"error", {{"message", error.text}, {"exit_code", static_cast<int>(exit)}}}}.dump(
            -1, ' ', false, PlainJson::error_handler_t::replace));
  }
  return exit;
}

std::string path_of(const Context& context, const AuditRequest& request) {
  return request.log.empty() ? audit_log_path(configuration_of(context)) : request.log;
}

Result<std::uint32_t> uid_of(const std::string& who) {
  const passwd* user = ::getpwnam(who.c_str());  // NOLINT(concurrency-mt-unsafe): one thread
  if (user != nullptr) return user->pw_uid;
  if (!who.empty() && who.size() < 10 && who.find_first_not_of("0123456789") == std::string::npos) {
    return static_cast<std::uint32_t>(std::stoul(who));
  }
  return fail(fmt::format("there is no user \"{}\"", who));
}

Result<AuditQuestion> question_of(const AuditRequest& request) {
  const std::int64_t now = std::time(nullptr);
  AuditQuestion question{.uid = {},
                         .server = request.server,
                         .tool = request.tool,
                         .kind = request.kind,
                         .outcome = request.denied ? "denied" : request.outcome,
                         .session = request.session,
                         .label = request.label,
                         .since = {},
                         .until = {}};
  question.since = CELLBLOCK_TRY(moment_prefix(request.since, now));
  question.until = CELLBLOCK_TRY(moment_prefix(request.until, now));
  if (!request.who.empty()) question.uid = CELLBLOCK_TRY(uid_of(request.who));
  return question;
}

/// Shows lines, or keeps the last ones to be shown.
class Printer {
 public:
  Printer(const Context& context, AuditQuestion question)
      : output_(context.output), wants_all_(question.is_all()), filter_(std::move(question)) {}

  bool wants(std::string_view line) {
    return wants_all_ || filter_.wants(PlainJson::parse(line, nullptr, false));
  }

  void print(std::string_view line) const {
    if (output_ == Output::json) {
      fmt::print("{}\n", line);
    } else if (const auto parsed = PlainJson::parse(line, nullptr, false); parsed.is_object()) {
      fmt::print("{}\n", audit_line_text(parsed, style_, columns_));
    } else {
      fmt::print("? {}\n", cut_to(safe_line(line), columns_));
    }
  }

 private:
  Output output_;
  bool wants_all_;
  AuditFilter filter_;
  Style style_ = Style::for_stdout();
  std::size_t columns_ = terminal_width();
};

std::uint64_t sequence_of(std::string_view line) {
  const auto sealed = audit::sealed_line(line);
  return sealed ? sealed->sequence : 0;
}

// The last lines that are wanted, and the number of the last line at all.
Result<std::uint64_t> print_last(const std::string& path, Printer& printer, std::size_t most) {
  std::deque<std::string> kept;  // of one file
  std::deque<std::string> all;
  std::uint64_t last = 0;
  const LineTaker taker{.line =
                            [&](std::string_view line) {
                              last = std::max(last, sequence_of(line));
                              if (!printer.wants(line)) return;
                              kept.emplace_back(line);
                              if (kept.size() > most) kept.pop_front();
                            },
                        .rest = {}};
  const std::vector<LogFile> files = CELLBLOCK_TRY(log_files(path));
  for (auto file = files.rbegin(); file != files.rend() && all.size() < most; ++file) {
    (void)CELLBLOCK_TRY(read_lines(file->path, 0, taker));
    for (; !kept.empty() && all.size() < most; kept.pop_back()) {
      all.push_front(std::move(kept.back()));
    }
    kept.clear();
  }
  for (const std::string& line : all) printer.print(line);
  return last;
}

}  // namespace

Exit run_audit_tail(const Context& context, const AuditRequest& request) {
  auto question = question_of(request);
  if (!question) return tell(context, question.error(), Exit::usage);
  const std::string path = path_of(context, request);
  Printer printer(context, std::move(*question));
  const auto last = print_last(path, printer, request.lines);
  if (!last) return tell(context, last.error(), Exit::error);
  if (!request.follow) return Exit::ok;
  static_cast<void>(std::fflush(stdout));
  const auto followed = follow_log(path, *last, [&printer](std::string_view line) {
    if (!printer.wants(line)) return;
    printer.print(line);
    static_cast<void>(std::fflush(stdout));
  });
  return followed ? Exit::ok : tell(context, followed.error(), Exit::error);
}

Exit run_audit_search(const Context& context, const AuditRequest& request) {
  auto question = question_of(request);
  if (!question) return tell(context, question.error(), Exit::usage);
  const auto files = log_files(path_of(context, request));
  if (!files) return tell(context, files.error(), Exit::error);
  Printer printer(context, std::move(*question));
  const LineTaker taker{.line =
                            [&printer](std::string_view line) {
                              if (printer.wants(line)) printer.print(line);
                            },
                        .rest = {}};
  for (const LogFile& file : *files) {
    const auto read = read_lines(file.path, 0, taker);
    if (!read) return tell(context, read.error(), Exit::error);
  }
  return Exit::ok;
}

Exit run_audit_verify(const Context& context, const AuditRequest& request) {
  std::optional<audit::ChainPoint> anchor;
  if (!request.anchor.empty()) {
    const auto read = read_anchor(request.anchor);
    if (!read) return tell(context, read.error(), Exit::usage);
    anchor = *read;
  }
  const auto files = log_files(path_of(context, request));
  if (!files) return tell(context, files.error(), Exit::error);
  audit::LogVerifier verifier(anchor);
  const LineTaker taker{.line = [&verifier](std::string_view line) { verifier.line(line); },
                        .rest = [&verifier](std::string_view bytes) { verifier.rest(bytes); }};
  for (const LogFile& file : *files) {
    verifier.begin_file(file.path);
    const auto read = read_lines(file.path, 0, taker);
    if (!read) return tell(context, read.error(), Exit::error);
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
