#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdio>
#include <ctime>
#include <deque>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/cli/audit/audit_options.h"
#include "client/cli/audit/event_form.h"
#include "client/cli/audit/filter.h"
#include "client/cli/audit/line_text.h"
#include "client/cli/audit/log_files.h"
#include "client/cli/commands/commands.h"
#include "client/cli/table/shared_options.h"
#include "client/cli/terminal/terminal_text.h"
#include "policy/audit/sealed_line.h"
#include "policy/base/suggestion.h"

// The audit log, read where it lies: no daemon is asked.
namespace cellblock::cli {
namespace {

using PlainJson = nlohmann::json;

// A kind that there is not, like a label that nobody can have, would find nothing: which says
// nothing.
std::string kind_mistake(const std::string& kind) {
  if (std::ranges::find(audit_kinds, std::string_view(kind)) != audit_kinds.end()) return {};
  const auto guess = nearest(kind, audit_kinds);
  return fmt::format("there is no kind \"{}\"{}; there are {}", safe_line(kind),
                     guess.empty() ? "" : fmt::format("; did you mean \"{}\"?", guess),
                     fmt::join(audit_kinds, ", "));
}

std::string number_mistake(const std::string& text) {
  const bool is_number = !text.empty() && text.size() <= 19 &&
                         text.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? std::string() : fmt::format("\"{}\" is no number", safe_line(text));
}

std::string_view kinds_text() {
  static const std::string text = fmt::format("of this kind: {}", fmt::join(audit_kinds, ", "));
  return text;
}

constexpr Option audit_lines{
    .name = "-n,--lines",
    .what = "the last so many lines; with --since or --until all, unless this is given",
    .placeholder = "UINT",
    .standard = "20",
    .range = {0, 100'000}};
constexpr Option about_user{
    .name = "--who", .what = "of this user only, by name or number", .placeholder = "USER"};
constexpr Option about_server{.name = "--server",
                              .what = "about this server only",
                              .placeholder = "NAME",
                              .completes = Completes::servers};
constexpr Option only_denied = flag("--denied", "what was denied only");
constexpr Option about_tool{.name = "--tool", .what = "of this tool or method"};
const Option of_kind{.name = "--kind", .what = kinds_text(), .check = kind_mistake};
constexpr Option with_outcome{
    .name = "--outcome", .what = "none, ok, error, denied or cancelled", .choices = [] {
      return std::vector<std::string>{"none", "ok", "error", "denied", "cancelled"};
    }};
constexpr Option of_session{.name = "--session",
                            .what = "of the session with this number",
                            .placeholder = "UINT",
                            .check = number_mistake};
constexpr Option with_label{.name = "--label",
                            .what = "of sessions with this label",
                            .placeholder = "NAME=VALUE",
                            .check = label_mistake};
constexpr Option since_time{
    .name = "--since",
    .what =
        "from then on. A TIME is UTC, 2026-11-22 or 2026-11-22T13:05:00Z or a beginning of "
        "that, or how long ago: 90s, 30m, 2h, 7d",
    .placeholder = "TIME"};
constexpr Option local_times = flag("--local", "times of this machine's zone, in place of UTC");
constexpr Option after_line{.name = "--after",
                            .what = "all lines behind the one with this number (seq)",
                            .placeholder = "SEQ",
                            .check = number_mistake};
constexpr Option until_time{.name = "--until",
                            .what = "up to then, and with all that begins so: a day is whole",
                            .placeholder = "TIME"};
constexpr Option event_format{
    .name = "--format",
    .what = "each line as an event of that schema (ecs, ocsf, cef), for a log collector",
    .choices = event_form_names};
Result<std::uint32_t> uid_searched(const std::string& who) {
  const passwd* user = ::getpwnam(who.c_str());  // NOLINT(concurrency-mt-unsafe): one thread
  if (user != nullptr) return user->pw_uid;
  if (!who.empty() && who.size() < 10 && who.find_first_not_of("0123456789") == std::string::npos) {
    return static_cast<std::uint32_t>(std::stoul(who));
  }
  return fail(fmt::format("there is no user \"{}\"", who));
}

Result<AuditQuestion> question_of(const Words& words) {
  const std::int64_t now = std::time(nullptr);
  AuditQuestion question{.uid = {},
                         .server = words.text(about_server),
                         .tool = words.text(about_tool),
                         .kind = words.text(of_kind),
                         .outcome = words.has(only_denied) ? "denied" : words.text(with_outcome),
                         .session = {},
                         .label = words.text(with_label),
                         .since = {},
                         .until = {}};
  if (words.has(of_session)) question.session = std::stoull(words.text(of_session));
  const auto moment = [&](const Option& option, MomentEdge edge) {
    return words.has(local_times) ? local_moment(words.text(option), now, edge)
                                  : moment_prefix(words.text(option), now);
  };
  question.since = CELLBLOCK_TRY(moment(since_time, MomentEdge::begin));
  question.until = CELLBLOCK_TRY(moment(until_time, MomentEdge::end));
  // Until a day is until its end: only what is as long as it is compared.
  if (!question.until.empty() && question.since.substr(0, question.until.size()) > question.until) {
    return fail("--until names a time before that of --since: no line is in between");
  }
  const auto user = words.text(about_user);
  if (!user.empty()) question.uid = CELLBLOCK_TRY(uid_searched(user));
  return question;
}

ShownTime shown_time(const Words& words) {
  return words.has(local_times) ? ShownTime::local : ShownTime::utc;
}

EventOrigin this_machine() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return {"unknown", CELLBLOCK_VERSION};
  return {name.data(), CELLBLOCK_VERSION};
}

/// Shows lines, or keeps the last ones to be shown.
class Printer {
 public:
  Printer(const Context& context, const Words& words, AuditQuestion question)
      : output_(context.output),
        shown_(shown_time(words)),
        form_(event_form(words.text(event_format))),
        server_(question.server),
        wants_all_(question.is_all()),
        filter_(std::move(question)) {}

  bool wants(std::string_view line) {
    if (wants_all_) return true;
    const auto parsed = PlainJson::parse(line, nullptr, false);
    if (!server_.empty()) note_server(parsed);
    return filter_.wants(parsed);
  }

  // Silence would read as if it had done nothing.
  void say_if_unknown() const {
    if (server_.empty() || servers_.contains(server_)) return;
    const std::vector<std::string_view> known(servers_.begin(), servers_.end());
    const auto guess = nearest(server_, known);
    fmt::print(stderr,
               "cellblock: no record of this log names a server \"{}\"{}; `cellblock status` lists "
               "those that are declared\n",
               safe_line(server_),
               guess.empty() ? "" : fmt::format("; did you mean \"{}\"?", safe_line(guess)));
  }

  void print(std::string_view line) {
    if (form_ != nullptr) {
      print_event(line);
    } else if (output_ == Output::json) {
      fmt::print("{}\n", line);
    } else if (const auto parsed = PlainJson::parse(line, nullptr, false); parsed.is_object()) {
      fmt::print("{}\n", audit_line_text(parsed, style_, columns_, shown_));
    } else {
      fmt::print("? {}\n", cut_to(safe_line(line), columns_));
    }
  }

 private:
  void note_server(const PlainJson& line) {
    constexpr std::size_t most_names = 1'000;
    if (!line.is_object()) return;
    const auto name = line.value("server", PlainJson());
    if (!name.is_string()) return;
    const auto& text = name.get_ref<const std::string&>();
    if (servers_.size() < most_names || text == server_) servers_.insert(text);
  }

  // A collector takes events alone, and whoever looks after it hears that something else was there.
  void print_event(std::string_view line) {
    const auto parsed = PlainJson::parse(line, nullptr, false);
    if (parsed.is_object()) {
      fmt::print("{}\n", form_(parsed, origin_));
      return;
    }
    if (std::exchange(has_told_, true)) return;
    fmt::print(stderr, "cellblock: what is no record of the log was left out\n");
  }

  Output output_;
  ShownTime shown_;
  EventForm form_;
  EventOrigin origin_ = this_machine();
  bool has_told_ = false;
  std::string server_;             ///< that is asked about; empty: none
  std::set<std::string> servers_;  ///< that records name, where one is asked about
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

// Whoever ships the log goes on where it was: what is not there any more has to be told, and a log
// that does not go so far is another one.
Result<std::uint64_t> print_after(const std::string& path, Printer& printer, std::uint64_t after) {
  std::uint64_t last = 0;
  const LineTaker taker{.line =
                            [&](std::string_view line) {
                              const std::uint64_t sequence = sequence_of(line);
                              last = std::max(last, sequence);
                              if (sequence > after && printer.wants(line)) printer.print(line);
                            },
                        .rest = {}};
  const std::vector<LogFile> files = CELLBLOCK_TRY(log_files(path));
  if (!files.empty() && files.front().first > after + 1) {
    fmt::print(stderr, "cellblock: lines {} to {} have made room for newer ones\n", after + 1,
               files.front().first - 1);
  }
  for (const LogFile& file : files) (void)CELLBLOCK_TRY(read_lines(file.path, 0, taker));
  if (last >= after) return last;
  return fail(
      fmt::format("the log ends with line {}, before line {}: it was begun anew; begin "
                  "with --after 0",
                  last, after));
}

// A span of time is meant whole, unless somebody asks for its last lines.
bool wants_whole_span(const Words& words) {
  return (words.has(since_time) || words.has(until_time)) && !words.has(audit_lines);
}

Exit run_audit_tail(const Context& context, const Words& words) {
  auto question = question_of(words);
  if (!question) return audit_failure(context, question.error(), Exit::usage);
  const std::string path = audit_log_in(context, words);
  Printer printer(context, words, std::move(*question));
  const std::size_t most =
      wants_whole_span(words) ? std::numeric_limits<std::size_t>::max() : words.number(audit_lines);
  const auto last = words.has(after_line)
                        ? print_after(path, printer, std::stoull(words.text(after_line)))
                        : print_last(path, printer, most);
  if (!last) return audit_failure(context, last.error(), Exit::error);
  printer.say_if_unknown();
  if (!words.has(follow_option)) return Exit::ok;
  static_cast<void>(std::fflush(stdout));
  const auto followed = follow_log(path, *last, [&printer](std::string_view line) {
    if (!printer.wants(line)) return;
    printer.print(line);
    static_cast<void>(std::fflush(stdout));
  });
  return followed ? Exit::ok : audit_failure(context, followed.error(), Exit::error);
}

Exit run_audit_search(const Context& context, const Words& words) {
  auto question = question_of(words);
  if (!question) return audit_failure(context, question.error(), Exit::usage);
  const auto files = log_files(audit_log_in(context, words));
  if (!files) return audit_failure(context, files.error(), Exit::error);
  Printer printer(context, words, std::move(*question));
  const LineTaker taker{.line =
                            [&printer](std::string_view line) {
                              if (printer.wants(line)) printer.print(line);
                            },
                        .rest = {}};
  for (const LogFile& file : *files) {
    const auto read = read_lines(file.path, 0, taker);
    if (!read) return audit_failure(context, read.error(), Exit::error);
  }
  printer.say_if_unknown();
  return Exit::ok;
}

Exit run_audit(const Context& context, const Words& words) {
  if (words.has(event_format) && context.output == Output::json) {
    return audit_failure(context, {"--format says how lines are printed: leave --json out"},
                         Exit::usage);
  }
  const bool is_search =
      wants_whole_span(words) && !words.has(follow_option) && !words.has(after_line);
  return is_search ? run_audit_search(context, words) : run_audit_tail(context, words);
}

Command tail_command() {
  return {.name = "tail",
          .what = "the last lines of the log",
          .newer = "audit",
          .example = "cellblock audit tail -n 50 --denied",
          .options = {&audit_log_option, &audit_lines, &follow_option, &after_line, &about_user,
                      &about_server, &only_denied, &local_times},
          .excludes = {{&after_line, &audit_lines}},
          .run = run_audit_tail};
}

Command search_command() {
  return {.name = "search",
          .what = "the lines for which all of this holds",
          .newer = "audit",
          .example = "cellblock audit search --server files --since 2h",
          .options = {&audit_log_option, &about_user, &about_server, &only_denied, &about_tool,
                      &of_kind, &with_outcome, &of_session, &with_label, &since_time, &until_time,
                      &local_times},
          .run = run_audit_search};
}

Command verify_command() {
  return {.name = "verify",
          .what = "whether the log is whole and unchanged",
          .example = "cellblock audit verify --anchor 4711:9f86d0...",
          .options = {&audit_log_option, &anchor_option, &anchor_file_option, &sign_option,
                      &public_key_option},
          .excludes = {{&anchor_option, &anchor_file_option}, {&sign_option, &public_key_option}},
          .needs = {{&public_key_option, &anchor_file_option}},
          .tool = Tool::audit_verify};
}

}  // namespace

Command audit_command() {
  return {
      .name = "audit",
      .group = Group::see,
      .what =
          "the audit log, where it lies: its last lines, or those for which all of this "
          "holds; and a check of it",
      .example =
          "cellblock audit --follow\n  cellblock audit --denied --since 2h\n  cellblock "
          "audit verify",
      .options = {&audit_log_option, &audit_lines, &follow_option, &after_line, &about_user,
                  &about_server, &only_denied, &about_tool, &of_kind, &with_outcome, &of_session,
                  &with_label, &since_time, &until_time, &local_times, &event_format},
      .excludes = {{&after_line, &audit_lines}, {&event_format, &local_times}},
      .run = run_audit,
      .below = {tail_command(), search_command(), verify_command()}};
}

}  // namespace cellblock::cli
