#include "policy/failures/end_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <ranges>

#include "policy/base/printable.h"
#include "policy/base/units.h"
#include "policy/failures/errno_and_signal_names.h"

namespace cellblock {
namespace {

constexpr std::size_t longest_name = 253;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_in_type_name(char c) {
  return is_letter(c) || is_digit(c) || c == '.' || c == '_' || c == '$' || c == ':';
}

template <typename List>
bool begins_with_one(std::string_view text, const List& starts) {
  return std::ranges::any_of(starts, [text](std::string_view s) { return text.starts_with(s); });
}

template <typename List>
bool contains_one(std::string_view text, const List& parts) {
  return std::ranges::any_of(parts, [text](std::string_view part) { return text.contains(part); });
}

/// Python draws groups of exceptions with "|" and "+", everybody indents.
std::string_view without_drawing(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t|+-");
  return begin == std::string_view::npos ? std::string_view{} : line.substr(begin);
}

/// What stands before the type of an error that is thrown, or the cause of another one.
std::string_view without_introduction(std::string_view text) {
  constexpr std::array<std::string_view, 6> introductions = {
      "[cause]: ", "Caused by: ", "Uncaught ", "Unhandled exception. ", "---> ", "["};
  for (const std::string_view words : introductions) {
    if (text.starts_with(words)) text.remove_prefix(words.size());
  }
  return text;
}

/// "java.net.UnknownHostException: …", "Error [ERR_X]: …", "KeyboardInterrupt"
bool begins_with_type(std::string_view text) {
  const auto end = std::ranges::find_if_not(text, is_in_type_name);
  std::string_view type = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  const std::string_view rest = text.substr(type.size());
  const bool has_colon = type.ends_with(':');
  if (has_colon) type.remove_suffix(1);
  const bool is_type = type.ends_with("Error") || type.ends_with("Exception") ||
                       type.ends_with("Interrupt") || type.ends_with("ExceptionGroup");
  const bool is_word = type == "error" || type == "ERROR" || type == "fatal" || type == "panic" ||
                       type == "FATAL" || type == "Fatal";
  return (is_type && (has_colon || rest.empty() || rest.starts_with(" ["))) ||
         (is_word && has_colon);
}

/// As a runtime writes the error that ends the program.
bool is_headline(std::string_view text) {
  constexpr std::array<std::string_view, 6> starts = {
      "Caused by: ",          "fatal error: ",        "Fatal error: ",
      "Exception in thread ", "Unhandled exception.", "Uncaught "};
  return begins_with_one(text, starts) || begins_with_type(without_introduction(text)) ||
         text.contains("' panicked at ") || text.contains("Check failed");
}

/// What stands in a trace beside the error itself.
bool is_of_a_trace(std::string_view text) {
  constexpr std::array<std::string_view, 8> starts = {
      "at ",    "File \"",         "... ",         "Node.js v", "goroutine ",
      "throw ", "note: run with ", "node:internal"};
  constexpr std::array<std::string_view, 4> parts = {
      "triggerUncaughtException", "A complete log of this run", "For further information visit ",
      "Traceback (most recent call last)"};
  return begins_with_one(text, starts) || contains_one(text, parts) ||
         std::ranges::none_of(text, [](char c) { return is_letter(c) || is_digit(c); });
}

bool mentions_an_error(std::string_view text) {
  constexpr std::array<std::string_view, 4> parts = {"rror", "xception", "panic", "Fatal"};
  return contains_one(text, parts);
}

/// A member of the error that Node.js prints behind it: "code: 'ERR_X',"
bool is_member(std::string_view text) {
  return text.contains(": ") && (text.ends_with(',') || text.ends_with('\'')) &&
         !text.starts_with('[') && std::ranges::find(text, ' ') > std::ranges::find(text, ':');
}

using Which = bool (*)(std::string_view text);

/// Where it stands among the lines; their number: nowhere.
std::size_t last_of(const std::vector<std::string>& lines, Which which) {
  for (std::size_t i = lines.size(); i-- > 0;) {
    const std::string_view text = without_drawing(lines[i]);
    if (!text.empty() && !is_of_a_trace(text) && which(text)) return i;
  }
  return lines.size();
}

std::size_t explaining_line(const std::vector<std::string>& lines) {
  std::size_t found = last_of(lines, is_headline);
  if (found == lines.size()) {
    found = last_of(
        lines, [](std::string_view text) { return mentions_an_error(text) && !is_member(text); });
  }
  if (found == lines.size()) found = last_of(lines, [](std::string_view) { return true; });
  return found;
}

/// Rust writes what it panicked about on the next line.
std::string whole_panic(const std::vector<std::string>& lines, std::size_t at) {
  std::string text(without_drawing(lines[at]));
  const bool goes_on = text.contains("' panicked at ") && text.ends_with(':');
  if (goes_on && at + 1 < lines.size()) text.append(" ").append(without_drawing(lines[at + 1]));
  return text;
}

bool is_in_host_name(char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '-'; }

/// Empty: no name of the Internet stands there.
std::string host_name_at(std::string_view text) {
  const auto end = std::ranges::find_if_not(text, is_in_host_name);
  std::string name(text.begin(), end);
  while (name.ends_with('.')) name.pop_back();
  const bool is_name =
      name.size() <= longest_name && name.contains('.') && std::ranges::any_of(name, is_letter);
  return is_name ? name : std::string();
}

}  // namespace

std::string last_words(const std::vector<std::string>& lines) {
  const std::size_t found = explaining_line(lines);
  if (found != lines.size()) return whole_panic(lines, found);
  for (const std::string& line : std::views::reverse(lines)) {
    if (line.find_first_not_of(' ') != std::string::npos) return line;
  }
  return {};
}

std::string unresolved_name(const std::vector<std::string>& lines) {
  // Node.js (two), curl and git, urllib3 (two), Go.
  constexpr std::array<std::string_view, 6> before = {
      "getaddrinfo ENOTFOUND ", "getaddrinfo EAI_AGAIN ", "Could not resolve host: ",
      "Failed to resolve '",    "ConnectionPool(host='",  "dial tcp: lookup "};
  for (const std::string& line : std::views::reverse(lines)) {
    for (const std::string_view words : before) {
      const std::size_t begin = line.find(words);
      if (begin == std::string::npos) continue;
      std::string name = host_name_at(std::string_view(line).substr(begin + words.size()));
      if (!name.empty()) return name;
    }
  }
  return {};
}

namespace {

constexpr std::size_t longest_last_words = 300;
constexpr std::size_t most_shown_lines = 10;
constexpr int loader_failed = 127;

std::string in_parentheses(std::string_view text) {
  return text.empty() ? "" : fmt::format(" ({})", text);
}

// The launcher sees the host's tree at its start and at a reload, and at no other time.
constexpr std::string_view path_remedy =
    "; paths are looked at when cellblockd starts and at each \"cellblock reload\": put it right, "
    "then have an administrator reload";

bool is_about_paths(const CellFacts& facts) {
  return facts.step == SetupStep::prepare || facts.step == SetupStep::open_workspace;
}

std::string setup_cause(const EndedCell& cell) {
  const CellFacts& facts = cell.facts;
  if (!cell.broken.empty() && is_about_paths(facts)) {
    return fmt::format("step {} failed: {}{}", name_of(facts.step), cell.broken, path_remedy);
  }
  std::string cause = fmt::format("step {} failed", name_of(facts.step));
  if (facts.error != 0) cause += ": " + errno_name(facts.error);
  if (facts.detail != ExecDetail::none) {
    cause += fmt::format(": {}", name_of(facts.detail));
  } else if (facts.error != 0) {
    cause += ": " + errno_sentence(facts.error);
  }
  if (!cell.failed_path.empty()) cause += ": " + cell.failed_path;
  cause += in_parentheses(hint_for(facts.step, facts.error));
  return cell.failed_path.empty() ? cause : cause.append(path_remedy);
}

/// ld.so says it on stderr and exits with 127.
std::optional<std::string> missing_library(const EndedCell& cell) {
  constexpr std::string_view before = "error while loading shared libraries: ";
  constexpr std::string_view after = ": cannot open";
  if (cell.facts.kind != EndKind::exited || cell.facts.exit_code != loader_failed) return {};
  for (const std::string& line : cell.stderr_tail) {
    const std::size_t begin = line.find(before);
    if (begin == std::string::npos) continue;
    const std::string_view rest = std::string_view{line}.substr(begin + before.size());
    const std::size_t end = rest.find(after);
    if (end != std::string_view::npos) return std::string{rest.substr(0, end)};
  }
  return {};
}

std::string with_last_words(std::string cause, const EndedCell& cell) {
  const std::string words = last_words(cell.stderr_tail);
  if (!words.empty()) {
    cause += fmt::format("; last words: \"{}\"", printable(words, longest_last_words));
  } else if (!cell.first_noise.empty()) {
    cause += fmt::format("; it wrote \"{}\" to its standard output",
                         printable(cell.first_noise, longest_last_words));
  }
  return cause;
}

/// The remedy of a server that does not reach what it may need.
std::string network_advice(const RefusedNetwork& refused, const std::string& name) {
  if (refused.is_all) {
    return fmt::format(
        "if it needs the network, give it network = \"egress\" and egress.allow = [\"{}\"]; "
        "`cellblock learn` finds what it needs",
        name.empty() ? "NAME:PORT" : name + ":443");
  }
  if (refused.allow.empty()) return "find out why the host does not reach what the sentence names";
  return fmt::format(
      "if it needs that, allow it with {}; `cellblock logs --denied` lists all that it was refused",
      refused.allow);
}

std::string network_advice(const EndedCell& cell) {
  if (!cell.refused_network) return {};
  return network_advice(*cell.refused_network, unresolved_name(cell.stderr_tail));
}

std::string with_refused_network(std::string cause, const EndedCell& cell) {
  if (!cell.refused_network) return cause;
  return fmt::format("{}; it was refused \"{}\" ({})", cause, cell.refused_network->what,
                     cell.refused_network->reason);
}

std::string_view signal_hint(int signal) {
  if (signal == SIGKILL) return " (out of memory, or killed from outside)";
  if (signal == SIGXFSZ || signal == SIGXCPU) return " (a resource limit was reached)";
  return "";
}

std::string end_cause(const EndedCell& cell) {
  const CellFacts& facts = cell.facts;
  const std::string_view when =
      cell.handshake == Handshake::unanswered ? " before it answered" : "";
  if (facts.kind == EndKind::exited) {
    return fmt::format("exited with code {}{}", facts.exit_code, when);
  }
  if (facts.kind == EndKind::signalled) {
    return fmt::format("killed by signal {} ({}){}{}", facts.signal, signal_name(facts.signal),
                       when, signal_hint(facts.signal));
  }
  return fmt::format("ended in an unknown way{}", when);
}

Verdict end_verdict(const EndedCell& cell) {
  if (cell.handshake == Handshake::unanswered) return Verdict::early_crash;
  const bool cleanly = cell.facts.kind == EndKind::exited && cell.facts.exit_code == 0;
  return cleanly ? Verdict::ordinary_exit : Verdict::crash;
}

std::string helper_cause(const CellFacts& facts) {
  constexpr std::string_view start = "its egress helper ended first";
  if (facts.step != SetupStep::none) {
    return fmt::format("{}: step {} failed{}", start, name_of(facts.step),
                       facts.error == 0 ? "" : ": " + errno_name(facts.error));
  }
  if (facts.signal == 0) return fmt::format("{}, with code {}", start, facts.exit_code);
  return fmt::format("{}, killed by signal {} ({})", start, facts.signal,
                     signal_name(facts.signal));
}

CrashVerdict judge_own_end(const EndedCell& cell) {
  if (const auto library = missing_library(cell)) {
    return {end_verdict(cell), fmt::format("a shared library is missing: {}", *library)};
  }
  const Verdict verdict = end_verdict(cell);
  if (verdict == Verdict::ordinary_exit) return {verdict, end_cause(cell)};
  // What it was refused may be of no account, unless it says itself that a name was missing.
  const bool is_for_network = !unresolved_name(cell.stderr_tail).empty();
  return {verdict, with_last_words(end_cause(cell), cell),
          is_for_network ? network_advice(cell) : std::string()};
}

// The kernel counts up to the limit and never beyond. A peak that stayed away from it tells that
// the host had no more to give.
bool reached_its_limit(const EndedCell& cell) {
  if (!cell.memory_limit) return false;
  const std::uint64_t near = *cell.memory_limit - *cell.memory_limit / 16;
  return cell.facts.memory_peak == 0 || cell.facts.memory_peak >= near;
}

std::string out_of_memory_cause(const EndedCell& cell) {
  if (reached_its_limit(cell)) {
    return fmt::format("went over limits.memory ({}): everything in the cell was killed",
                       size_text(*cell.memory_limit));
  }
  return "the host ran out of memory: everything in the cell was killed";
}

CrashVerdict judge_framing(const EndedCell& cell) {
  return {Verdict::foreign_framing,
          std::string(cell.framing ? cause_of(*cell.framing) : "wrote no lines of UTF-8"),
          "have the server write each message as one line of UTF-8 without a byte order mark, as "
          "MCP's stdio transport requires, or report it to whoever makes the server"};
}

CrashVerdict judge_silence(const EndedCell& cell) {
  const std::string cause = fmt::format("is running but had not answered after {} ms", cell.age_ms);
  return {Verdict::handshake_timeout, with_last_words(with_refused_network(cause, cell), cell),
          network_advice(cell)};
}

CrashVerdict judge_given_up(const EndedCell& cell) {
  switch (cell.given_up) {
    case GivenUp::handshake_timeout:
      return judge_silence(cell);
    case GivenUp::closed_stdout:
      return {Verdict::closed_stdout,
              with_last_words("closed its standard output but is still running", cell)};
    case GivenUp::closed_stdin:
      return {Verdict::closed_stdin,
              with_last_words("closed its standard input but is still running", cell)};
    case GivenUp::unread_stdin:
      return {Verdict::unread_stdin,
              with_last_words("is running but does not read its standard input", cell)};
    case GivenUp::too_much_noise:
      return {
          Verdict::too_much_noise,
          fmt::format("wrote {} lines that are no messages to its standard output, first \"{}\"",
                      cell.noise_lines, printable(cell.first_noise, longest_last_words))};
    case GivenUp::unresponsive:
      return {Verdict::unresponsive,
              with_last_words("is running but did not answer when it was asked whether it lives",
                              cell)};
    case GivenUp::foreign_framing:
      return judge_framing(cell);
    case GivenUp::idle:
      return {Verdict::idle, "was stopped, since it was idle"};
    case GivenUp::evicted:
      return {Verdict::evicted, "was stopped while it was idle, to make room for another cell"};
    case GivenUp::asked_to_stop:
    case GivenUp::no:
      break;
  }
  return {Verdict::stopped, "was stopped"};
}

}  // namespace

/// In the order in which things can have come first: a cell whose set-up failed never ran, and one
/// that was given up died of that.
CrashVerdict judge_end(const EndedCell& cell) {
  if (cell.facts.kind == EndKind::setup_failed) return {Verdict::never_ran, setup_cause(cell)};
  if (cell.given_up != GivenUp::no) return judge_given_up(cell);
  if (cell.facts.kind == EndKind::egress_ended) {
    return {Verdict::egress_ended, helper_cause(cell.facts)};
  }
  if (cell.facts.kind == EndKind::killed_by_filter) {
    return {Verdict::killed_by_filter,
            fmt::format("killed by the system call filter: {}",
                        syscall_name(cell.facts.syscall_arch, cell.facts.syscall_number))};
  }
  if (cell.facts.kind == EndKind::out_of_memory) {
    return {Verdict::out_of_memory, with_last_words(out_of_memory_cause(cell), cell)};
  }
  return judge_own_end(cell);
}

std::string last_words_of(const EndedCell& cell) { return with_last_words({}, cell); }

std::string advice_on_silence(const EndedCell& cell) { return network_advice(cell); }

std::vector<std::string> shown_lines(std::vector<std::string> stderr_tail) {
  const std::size_t extra = stderr_tail.size() - std::min(stderr_tail.size(), most_shown_lines);
  stderr_tail.erase(stderr_tail.begin(), stderr_tail.begin() + static_cast<std::ptrdiff_t>(extra));
  return stderr_tail;
}

std::string describe(std::string_view server, const CrashVerdict& verdict) {
  return fmt::format("cell \"{}\": {}", server, verdict.cause);
}

}  // namespace cellblock
