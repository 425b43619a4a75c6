#include "client/cli/import/read/named_ranges.h"

#include <fmt/format.h>

#include <algorithm>

#include "client/cli/terminal/terminal_text.h"
#include "policy/egress/egress_rule.h"

namespace cellblock::cli {
namespace {

struct NamedRange {
  std::string server;  ///< empty: any
  std::string rule;
};

// A name of a server may have any character but a range has no "=".
NamedRange split_word(const std::string& word) {
  const auto equals = word.rfind('=');
  if (equals == std::string::npos) return {.server = {}, .rule = word};
  return {.server = word.substr(0, equals), .rule = word.substr(equals + 1)};
}

std::string problem_of(const std::string& word, const std::vector<std::string>& servers) {
  const auto one = split_word(word);
  const auto rule = parse_egress_rule(one.rule);
  if (!rule) return rule.error().text;
  if (rule->target != EgressTarget::range) {
    return "it is no range of addresses; allowed: [SERVER=]ADDRESS/PREFIX:PORT";
  }
  if (auto problem = declaration_problem(*rule, one.rule); !problem.empty()) return problem;
  const bool names_server = word.find('=') != std::string::npos;
  if (!names_server || std::ranges::find(servers, one.server) != servers.end()) return {};
  return fmt::format("the file has no server \"{}\"", safe_line(one.server));
}

}  // namespace

NamedRanges for_any_host(const std::vector<std::string>& rules) {
  return {.for_addresses = rules, .for_names = rules};
}

Result<void> check_named_ranges(const std::vector<std::string>& words,
                                const std::vector<std::string>& servers) {
  for (const auto& word : words) {
    const auto problem = problem_of(word, servers);
    if (!problem.empty()) return fail(fmt::format("--egress {}: {}", safe_line(word), problem));
  }
  return {};
}

NamedRanges named_ranges(const std::vector<std::string>& words, std::string_view server) {
  NamedRanges ranges;
  for (const auto& word : words) {
    const auto one = split_word(word);
    const bool is_bound = !one.server.empty() && one.server == server;
    if (one.server.empty() || is_bound) ranges.for_addresses.push_back(one.rule);
    if (is_bound) ranges.for_names.push_back(one.rule);
  }
  return ranges;
}

}  // namespace cellblock::cli
