#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "policy/config/words.h"
#include "policy/flows/flow_contexts.h"
#include "policy/json/json_text.h"

/// The sequences of tests/flows through the machine that judges calls, and the table of what became
/// of them, which docs/flows.md has. This prints it: flow_corpus_test --gtest_brief=1
namespace cellblock {
namespace {

using ::testing::HasSubstr;

const std::string source = CELLBLOCK_SOURCE;

struct Call {
  std::string server;
  std::string tool;
  std::string arguments;
  std::string result;
  std::size_t context = 0;
  bool does_harm = false;
};

struct Sequence {
  std::string kind;  ///< of an attack
  std::string name;
  std::vector<Call> calls;
};

struct Corpus {
  std::map<std::string, FlowLabels> labels;  ///< by "server.tool"
  std::vector<Sequence> sequences;
};

FlowLabels labels_in(std::string_view list) {
  FlowLabels labels;
  for (std::size_t i = 0; i < words<FlowLabel>.size(); ++i) {
    if (list.contains(words<FlowLabel>.at(i))) labels.add(static_cast<FlowLabel>(i));
  }
  return labels;
}

void read_server(std::istringstream& line, Corpus& corpus) {
  std::string server;
  std::string tool;
  line >> server;
  while (line >> tool) {
    const std::size_t equals = tool.find('=');
    corpus.labels[server + "." + tool.substr(0, equals)] = labels_in(tool.substr(equals + 1));
  }
}

std::string rest_of(std::istringstream& line) {
  std::string rest;
  std::getline(line >> std::ws, rest);
  return rest;
}

void read_call(const std::string& first, std::istringstream& line, std::size_t context,
               Corpus& corpus) {
  Call call{.context = context, .does_harm = first == "!"};
  std::string name = first;
  if (call.does_harm) line >> name;
  EXPECT_TRUE(corpus.labels.contains(name)) << name;
  call.server = name.substr(0, name.find('.'));
  call.tool = name.substr(name.find('.') + 1);
  call.arguments = rest_of(line);
  corpus.sequences.back().calls.push_back(call);
}

Corpus read_corpus(const std::string& name) {
  Corpus corpus;
  std::ifstream file(source + "/tests/flows/" + name);
  std::size_t context = 0;
  for (std::string text; std::getline(file, text);) {
    std::istringstream line(text);
    std::string first;
    if (!(line >> first) || first == "#") continue;
    if (first == "server") {
      read_server(line, corpus);
    } else if (first == "attack" || first == "task") {
      context = 0;
      corpus.sequences.push_back({.kind = first});
      if (first == "attack") std::getline(line >> std::ws, corpus.sequences.back().kind, ':');
      corpus.sequences.back().name = rest_of(line);
    } else if (first == "context") {
      ++context;
    } else if (first == ">") {
      corpus.sequences.back().calls.back().result += rest_of(line) + "\n";
    } else {
      read_call(first, line, context, corpus);
    }
  }
  return corpus;
}

/// How many of a sequence's calls a person is asked about, or are refused.
struct Asked {
  std::size_t all = 0;
  std::size_t harmful = 0;
};

std::string answer_with(const std::string& text) {
  return R"({"result":{"content":[{"type":"text","text":)" + json_quoted(text) + "}]}}";
}

Asked asked_about(const Corpus& corpus, const Sequence& sequence, const FlowRules& rules) {
  Asked asked;
  FlowContexts contexts(rules);
  const Instant now{std::chrono::hours{1}};
  std::uint64_t number = 0;
  for (const Call& call : sequence.calls) {
    const std::uint64_t session = call.context + 1;
    if (number == 0 || call.context != sequence.calls[number - 1].context) {
      contexts.join(session, std::to_string(call.context), FlowContexts::Entry::fresh, now);
    }
    const FlowLabels labels = corpus.labels.at(call.server + "." + call.tool);
    const auto verdict =
        contexts.judge({.session = session,
                        .target = {.server = call.server, .tool = call.tool, .labels = labels},
                        .arguments = call.arguments});
    if (verdict) {
      ++asked.all;
      asked.harmful += call.does_harm ? 1U : 0U;
    }
    contexts.take({.session = session, .call = ++number, .server = call.server, .name = call.tool},
                  labels);
    contexts.read(session, labels, answer_with(call.result));
  }
  return asked;
}

struct NamedRules {
  std::string name;
  FlowRules rules;
};

FlowRule asking(std::string_view after, std::string_view before, bool copied) {
  return {.name = "flows.rule[1]",
          .after = labels_in(after),
          .before = labels_in(before),
          .copied = copied,
          .effect = FlowEffect::ask,
          .binds_everybody = true};
}

std::vector<NamedRules> variants() {
  const FlowRule both = asking("untrusted private", "egress", true);
  const FlowRule alone = asking("private", "egress", true);
  const FlowRule deletes = asking("untrusted", "destructive", false);
  return {{"`trifecta`", {.trifecta = FlowEffect::ask}},
          {"the same labels with `copied`", {.rules = {both}}},
          {"`private` before `egress`, with `copied`", {.rules = {alone}}},
          {"`trifecta`, and `untrusted` before `destructive`",
           {.trifecta = FlowEffect::ask, .rules = {deletes}}},
          {"both with `copied`, and `untrusted` before `destructive`", {.rules = {both, deletes}}}};
}

constexpr std::array<std::string_view, 6> kinds{"copied", "encoded",    "way",
                                                "pieces", "paraphrase", "destruction"};

struct Count {
  std::size_t stopped = 0;
  std::size_t all = 0;
};

std::map<std::string, Count> stopped_by(const Corpus& attacks, const FlowRules& rules) {
  std::map<std::string, Count> counts;
  for (const Sequence& attack : attacks.sequences) {
    const bool is_stopped = asked_about(attacks, attack, rules).harmful > 0;
    for (const std::string& key : {attack.kind, std::string("all")}) {
      ++counts[key].all;
      counts[key].stopped += is_stopped ? 1U : 0U;
    }
  }
  return counts;
}

std::string row_of(const NamedRules& variant, const Corpus& attacks, const Corpus& tasks) {
  auto counts = stopped_by(attacks, variant.rules);
  std::string row = fmt::format("| {} |", variant.name);
  for (const std::string_view kind : kinds) {
    const Count& count = counts[std::string(kind)];
    row += fmt::format(" {}/{} |", count.stopped, count.all);
  }
  std::size_t questions = 0;
  std::size_t disturbed = 0;
  for (const Sequence& task : tasks.sequences) {
    const std::size_t asked = asked_about(tasks, task, variant.rules).all;
    questions += asked;
    disturbed += asked > 0 ? 1U : 0U;
  }
  return row + fmt::format(" {}/{} | {} in {} of {} |\n", counts["all"].stopped, counts["all"].all,
                           questions, disturbed, tasks.sequences.size());
}

std::string table() {
  const Corpus attacks = read_corpus("attacks.txt");
  const Corpus tasks = read_corpus("tasks.txt");
  std::string text =
      "| rules | copied | encoded | ways around | in pieces | paraphrase | destruction | all "
      "attacks | questions in ordinary tasks |\n|---|---|---|---|---|---|---|---|---|\n";
  for (const NamedRules& variant : variants()) text += row_of(variant, attacks, tasks);
  return text;
}

void list_exceptions(const NamedRules& variant) {
  const Corpus attacks = read_corpus("attacks.txt");
  for (const Sequence& attack : attacks.sequences) {
    if (asked_about(attacks, attack, variant.rules).harmful == 0) {
      std::cout << variant.name << " misses: " << attack.kind << ": " << attack.name << "\n";
    }
  }
  const Corpus tasks = read_corpus("tasks.txt");
  for (const Sequence& task : tasks.sequences) {
    if (asked_about(tasks, task, variant.rules).all > 0) {
      std::cout << variant.name << " asks in: " << task.name << "\n";
    }
  }
}

TEST(FlowCorpus, HasSixtyAttacksThatEachDoHarmAndFortyTasks) {
  const Corpus attacks = read_corpus("attacks.txt");
  EXPECT_GE(attacks.sequences.size(), 60U);
  EXPECT_GE(read_corpus("tasks.txt").sequences.size(), 40U);
  for (const Sequence& attack : attacks.sequences) {
    EXPECT_TRUE(std::ranges::any_of(attack.calls, &Call::does_harm)) << attack.name;
    EXPECT_NE(std::ranges::find(kinds, attack.kind), kinds.end()) << attack.name;
  }
}

TEST(FlowCorpus, TheTableIsTheOneInTheDocumentation) {
  const std::string found = table();
  std::cout << found;
  for (const NamedRules& variant : variants()) list_exceptions(variant);
  std::stringstream page;
  page << std::ifstream(source + "/docs/flows.md").rdbuf();
  EXPECT_THAT(page.str(), HasSubstr(found));
}

}  // namespace
}  // namespace cellblock
