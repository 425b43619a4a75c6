#include "policy/sandbox/environment_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "policy/base/printable.h"

namespace cellblock {
namespace {

constexpr std::string_view opening = "${";
constexpr std::string_view escaped = "$${";
constexpr std::string_view user_placeholder = "${client.user}";
constexpr std::string_view uid_placeholder = "${client.uid}";
constexpr std::size_t longest_quoted = 64;

/// The next piece of `rest`: an escape, a placeholder of ours, "${" of none, or one character.
std::string_view next_piece(std::string_view rest) {
  for (const std::string_view known : {escaped, user_placeholder, uid_placeholder, opening}) {
    if (rest.starts_with(known)) return rest.substr(0, known.size());
  }
  return rest.substr(0, 1);
}

template <class Take>
void for_each_piece(std::string_view text, Take take) {
  while (!text.empty()) {
    const std::string_view piece = next_piece(text);
    take(piece, text);
    text.remove_prefix(piece.size());
  }
}

bool is_space_or_control(char32_t c) { return c <= 0x20 || (c >= 0x7f && c <= 0xa0); }

}  // namespace

bool is_user_name(std::string_view name) {
  if (name.empty() || name.size() > max_user_name) return false;
  while (!name.empty()) {
    const CodePoint point = first_code_point(name);
    if (point.length == 0 || is_space_or_control(point.value)) return false;
    name.remove_prefix(point.length);
  }
  return true;
}

std::optional<std::string> unknown_placeholder(std::string_view text) {
  std::optional<std::string> unknown;
  for_each_piece(text, [&](std::string_view piece, std::string_view rest) {
    if (piece != opening || unknown) return;
    const std::size_t end = std::min(rest.find('}'), longest_quoted);
    unknown = std::string(rest.substr(0, end)) + (end < rest.size() && rest[end] == '}' ? "}" : "");
  });
  return unknown;
}

bool needs_user_name(std::string_view text) {
  bool needs = false;
  for_each_piece(text, [&](std::string_view piece, std::string_view /*rest*/) {
    needs = needs || piece == user_placeholder;
  });
  return needs;
}

std::string fill_in(std::string_view text, const ClientNames& client) {
  std::string filled;
  for_each_piece(text, [&](std::string_view piece, std::string_view /*rest*/) {
    if (piece == user_placeholder) {
      filled += client.user;
    } else if (piece == uid_placeholder) {
      filled += std::to_string(client.uid);
    } else {
      filled += piece == escaped ? opening : piece;
    }
  });
  return filled;
}

namespace {

constexpr std::size_t longest_name = 128;

enum class Match { exact, prefix };

struct NameRule {
  std::string_view name;
  Match match;
  std::string_view reason;
};

constexpr std::string_view loads_code =
    "makes a program load or run code that `command` does not name";
constexpr std::string_view set_by_cellblock = "is set by cellblock for every cell";
constexpr std::string_view speaks_to_systemd = "belongs to the daemon's own dealings with systemd";

constexpr NameRule variable_rules[] = {
    {"LD_", Match::prefix, loads_code},
    {"GLIBC_TUNABLES", Match::exact, "changes the program loader's checks"},
    {"GCONV_PATH", Match::exact, loads_code},
    {"LOCPATH", Match::exact, loads_code},
    {"BASH_ENV", Match::exact, loads_code},
    {"BASH_FUNC_", Match::prefix, loads_code},
    {"ENV", Match::exact, loads_code},
    {"IFS", Match::exact, "changes how a shell reads its own scripts"},
    {"PROMPT_COMMAND", Match::exact, loads_code},
    {"NODE_OPTIONS", Match::exact,
     "gives node options that `command` does not show: put them there"},
    {"PYTHONSTARTUP", Match::exact, loads_code},
    {"PYTHONHOME", Match::exact, loads_code},
    {"PERL5OPT", Match::exact, loads_code},
    {"PERL5LIB", Match::exact, loads_code},
    {"RUBYOPT", Match::exact, loads_code},
    {"RUBYLIB", Match::exact, loads_code},
    {"JAVA_TOOL_OPTIONS", Match::exact, loads_code},
    {"_JAVA_OPTIONS", Match::exact, loads_code},
    {"HOME", Match::exact, set_by_cellblock},
    {"USER", Match::exact, set_by_cellblock},
    {"LOGNAME", Match::exact, set_by_cellblock},
    {"TMPDIR", Match::exact, set_by_cellblock},
    {"NOTIFY_SOCKET", Match::exact, speaks_to_systemd},
    {"WATCHDOG_", Match::prefix, speaks_to_systemd},
    {"LISTEN_", Match::prefix, speaks_to_systemd},
    {"CREDENTIALS_DIRECTORY", Match::exact, speaks_to_systemd},
    {"CELLBLOCK_", Match::prefix, "is cellblock's own"},
};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool is_letter_or_digit(char c) { return is_letter(c) || (c >= '0' && c <= '9'); }

bool applies(const NameRule& rule, std::string_view name) {
  return rule.match == Match::exact ? name == rule.name : name.starts_with(rule.name);
}

}  // namespace

bool is_variable_name(std::string_view name) {
  return !name.empty() && name.size() <= longest_name && is_letter(name.front()) &&
         std::ranges::all_of(name, is_letter_or_digit);
}

std::optional<std::string> variable_problem(std::string_view name) {
  for (const NameRule& rule : variable_rules) {
    if (applies(rule, name)) return fmt::format("{} {}", name, rule.reason);
  }
  return std::nullopt;
}

}  // namespace cellblock
