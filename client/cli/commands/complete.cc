#include <fmt/format.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "client/cli/commands/commands.h"
#include "client/cli/common/listed_servers.h"
#include "client/cli/table/shared_options.h"
#include "client/cli/table/word_completion.h"
#include "client/cli/terminal/json_text.h"
#include "policy/mcp/control_methods.h"

namespace cellblock::cli {
namespace {

constexpr suseconds_t longest_wait_us = 500'000;
constexpr std::size_t longest_name = 128;

extern "C" void end_silently(int /*signal*/) { ::_exit(0); }

// Whatever blocks: who presses a key does not wait for a daemon.
void bound_the_time() {
  constexpr itimerval once{.it_interval = {},
                           .it_value = {.tv_sec = 0, .tv_usec = longest_wait_us}};
  static_cast<void>(std::signal(SIGALRM, end_silently));
  static_cast<void>(::setitimer(ITIMER_REAL, &once, nullptr));
}

// Names that others chose become part of a command line: none that a shell, a terminal or our own
// parser would take for something else.
bool is_safe_name(std::string_view name) {
  constexpr std::string_view letters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  return !name.empty() && name.size() <= longest_name && letters.contains(name.front()) &&
         std::ranges::all_of(name, [letters](char letter) {
           return letters.contains(letter) || letter == '-' || letter == '.' || letter == '/';
         });
}

std::vector<std::string> servers_of(const Context& context) {
  const auto status = ask_daemon(context, control_method::status, "{}");
  return status ? listed_servers(*status) : std::vector<std::string>();
}

// Those that are known of without starting a cell.
std::vector<std::string> tools_of(const Context& context, const std::string& server) {
  const auto pins = ask_daemon(context, control_method::pins,
                               dumped(Json{{"definitions", true}, {"server", server}}));
  std::vector<std::string> names;
  if (!pins) return names;
  for (const auto& one : objects_of(Json::parse(*pins, nullptr, false), "servers")) {
    for (const auto& definition : objects_of(one, "definitions")) {
      names.push_back(raw_text(definition, "name"));
    }
  }
  return names;
}

void print_names(const WordCompletion& completion, const std::vector<std::string>& names) {
  for (const auto& name : names) {
    if (!is_safe_name(name) || !name.starts_with(completion.beginning)) continue;
    fmt::print("{}{}\n", completion.prefix, name);
  }
}

void print_wanted(const WordCompletion& completion) {
  switch (completion.wanted) {
    case Completes::nothing:
      break;
    case Completes::files:
      fmt::print(":files\n");
      break;
    case Completes::directories:
      fmt::print(":directories\n");
      break;
    case Completes::servers:
      bound_the_time();
      print_names(completion, servers_of(context_of(completion.words)));
      break;
    case Completes::tools:
      bound_the_time();
      print_names(completion, tools_of(context_of(completion.words), completion.server));
      break;
  }
}

}  // namespace

Exit complete(const Command& program, std::span<char* const> words) {
  const auto completion =
      complete_word(program, std::vector<std::string>(words.begin(), words.end()));
  for (const auto& [word, what] : completion.offered) {
    fmt::print("{}{}{}\n", word, what.empty() ? "" : "\t", what);
  }
  static_cast<void>(std::fflush(stdout));
  print_wanted(completion);
  return Exit::ok;
}

}  // namespace cellblock::cli
