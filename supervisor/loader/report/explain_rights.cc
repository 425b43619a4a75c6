#include "supervisor/loader/report/explain_rights.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "policy/access/rights.h"
#include "policy/access/verdict_text.h"
#include "policy/base/printable.h"
#include "policy/flows/rule_match.h"
#include "policy/flows/tool_labels.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "policy/sandbox/source_access.h"

namespace cellblock {
namespace {

using Json = nlohmann::ordered_json;

std::string_view word_of(Effect effect) {
  switch (effect) {
    case Effect::allow:
      return "allow";
    case Effect::ask:
      return "ask";
    case Effect::deny:
      break;
  }
  return "deny";
}

void add_names(std::vector<std::string>& parts, std::string_view what,
               const std::vector<NamePattern>& names) {
  if (names.empty()) return;
  std::vector<std::string> texts;
  texts.reserve(names.size());
  for (const NamePattern& name : names) texts.push_back(name.text + (name.is_prefix ? "*" : ""));
  parts.push_back(fmt::format("{} {}", what, fmt::join(texts, ", ")));
}

std::string conditions_text(const Rule& rule) {
  if (rule.arguments.empty()) return {};
  std::vector<std::string> texts;
  texts.reserve(rule.arguments.size());
  for (const Condition& condition : rule.arguments) {
    texts.push_back(fmt::format("{} {}{}", condition.argument, text_of(condition),
                                condition.is_optional ? " (or left out)" : ""));
  }
  return fmt::format(", with {}", fmt::join(texts, "; "));
}

std::string about(const Rule& rule) {
  std::vector<std::string> parts;
  if (rule.is_about_everything) parts.emplace_back("everything");
  add_names(parts, "tools", rule.tools);
  add_names(parts, "resources", rule.resources);
  add_names(parts, "prompts", rule.prompts);
  add_names(parts, "features", rule.features);
  if (parts.empty()) parts.emplace_back("nothing");
  return fmt::format("{}{}", fmt::join(parts, "; "), conditions_text(rule));
}

std::string line_of(const DeclaredServer& declared, const Rule& rule) {
  return fmt::format("  {:<5} {} ({})\n", word_of(rule.effect), about(rule),
                     place_of(declared, rule));
}

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json json_of(const DeclaredServer& declared, const Rule& rule) {
  return {{"name", fmt::format("server.{}.{}", declared.server.name, rule.name)},
          {"effect", word_of(rule.effect)},
          {"about", about(rule)},
          {"file", declared.file},
          {"line", rule.line}};
}

// The rules that bind the person and decide something, the strictest first.
std::vector<const Rule*> in_order(const Rights& rights) {
  std::vector<const Rule*> rules;
  const bool usable = rights.may_use_server();
  const auto add = [&](const std::vector<const Rule*>& from, Effect effect) {
    for (const Rule* rule : from) {
      if (rule->effect == effect) rules.push_back(rule);
    }
  };
  if (!usable) {
    for (const Rule* rule : rights.taking()) {
      if (rule->is_about_everything && !rights.giving().empty()) rules.push_back(rule);
    }
    return rules;
  }
  add(rights.taking(), Effect::deny);
  add(rights.taking(), Effect::ask);
  add(rights.giving(), Effect::allow);
  return rules;
}

// Uses the gateways' scanner: input that it refuses never reaches a rule.
Result<std::string> as_message(const ExplainedCall& call) {
  std::string line = R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":)" +
                     (call.arguments.empty() ? "{}" : call.arguments) + "}}";
  const std::size_t size = line.size();
  line.append(MessageScanner::padding, '\0');
  MessageScanner scanner;
  const auto message = scanner.scan(std::string_view(line).substr(0, size));
  if (!message)
    return fail(fmt::format("the arguments: {}; write them as {{\"name\": \"value\"}}",
                            cellblock::explain(message.error().fault)));
  return std::string(message->params.in(line));
}

std::string hint_of(const Rights& rights, const ExplainedCall& call, const AccessVerdict& verdict) {
  if (verdict.effect == Effect::allow) return {};
  if (!rights.shows(AccessKind::tool, call.tool)) {
    return "  It does not exist for this user: it is in no list, and a call is answered \"Unknown "
           "tool\".\n";
  }
  return verdict.effect == Effect::ask
             ? "  It is listed, and a call waits until somebody has approved it.\n"
             : "  It is listed, and such a call is refused with denied.\n";
}

/// The later effect of flow rules, by the agent's context.
struct Later {
  std::string headline;  ///< follows the effect
  std::string text;      ///< a line
  Json json;             ///< null: nothing
};

std::string place_of(const DeclaredFlows& flows, const FlowRule& rule) {
  return rule.line == 0 ? rule.name : fmt::format("{} ({}:{})", rule.name, flows.file, rule.line);
}

Later later_of(const DeclaredFlows& flows, const Server& server, const std::string& tool,
               const Subject& subject, Effect effect) {
  const FlowPerson person{
      subject.who.uid, subject.who.gid, {subject.who.groups.begin(), subject.who.groups.end()}};
  const auto later =
      later_flow(flows.rules, {server.name, tool, labels_of_tool(server, tool)}, person, effect);
  if (!later) return {};
  const std::string reason = fmt::format("{} {}", place_of(flows, later->rule), later->reason);
  return {.headline = fmt::format(", later {}", word_of(later->effect)),
          .text = fmt::format("  {}\n", reason),
          .json = {{"effect", word_of(later->effect)}, {"reason", reason}}};
}

struct RuleList {
  std::string text;
  Json json = Json::array();
};

RuleList listed(const DeclaredServer& declared, const std::vector<const Rule*>& rules) {
  RuleList list;
  for (const Rule* rule : rules) {
    list.text += line_of(declared, *rule);
    list.json.push_back(json_of(declared, *rule));
  }
  return list;
}

Explanation depends_on_arguments(const DeclaredServer& declared, const Rights& rights, Later later,
                                 const std::string& tool) {
  auto rules = in_order(rights);
  std::erase_if(rules, [&](const Rule* rule) { return !concerns_tool(*rule, tool); });
  auto list = listed(declared, rules);
  const std::string& name = declared.server.name;
  constexpr std::string_view reason = "its arguments decide: the strictest rule that they fit";
  return {.effect = std::nullopt,
          .text = fmt::format("{} {}: depends{}\n  {}\n{}{}  Add them, as one JSON object.\n", name,
                              tool, later.headline, reason, list.text, later.text),
          .json = dumped({{"server", name},
                          {"tool", tool},
                          {"effect", "depends"},
                          {"listed", true},
                          {"reason", reason},
                          {"rules", std::move(list.json)},
                          {"flows", std::move(later.json)}})};
}

// "write /srv/project: no, it belongs to another user (bob, 0755); remedy: ..."
std::vector<std::string> refused_paths(const Server& server, const CellClient& user,
                                       const Identity& identity) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < server.binds.size(); ++i) {
    const SourceAccess access = source_access(server, i, user, identity);
    if (access.allowed) continue;
    texts.push_back(fmt::format("{}; remedy: {}", access.problem, access.remedy));
  }
  return texts;
}

}  // namespace

std::string place_of(const DeclaredServer& declared, const Rule& rule) {
  return fmt::format("server.{}.{}, {}:{}", declared.server.name, rule.name, declared.file,
                     rule.line);
}

std::string text_of(const Rule& rule) {
  return fmt::format("{} {}", word_of(rule.effect), about(rule));
}

std::string explain_error_json(std::string_view text, int exit_code) {
  return dumped({{"error", {{"message", text}, {"exit_code", exit_code}}}});
}

Explanation explain_rights(const DeclaredServer& declared, const Subject& subject,
                           const Identity& identity) {
  const std::string& name = declared.server.name;
  const Rights rights(declared.server.rules, subject);
  const bool usable = rights.may_use_server();
  std::string text = fmt::format(
      "{}: {}\n", name,
      usable ? "the strictest of these decides; nothing else is given" : "not for this user");
  if (!usable && rights.giving().empty()) text += "  no rule gives anything\n";
  auto list = listed(declared, in_order(rights));
  text += list.text;
  const auto paths = refused_paths(declared.server, {subject.who.uid, subject.who.gid}, identity);
  for (const std::string& path : paths) text += fmt::format("  {}\n", path);
  return {.effect = usable ? Effect::allow : Effect::deny,
          .text = std::move(text),
          .json = dumped({{"server", name},
                          {"usable", usable},
                          {"rules", std::move(list.json)},
                          {"refused_paths", paths}})};
}

Result<Explanation> explain_call(const DeclaredServer& declared, const Subject& subject,
                                 const DeclaredFlows& flows, const ExplainedCall& call) {
  const Server& server = declared.server;
  const std::string params = CELLBLOCK_TRY(as_message(call));
  const auto arguments = read_arguments(params);
  if (!arguments) {
    return fail(
        fmt::format("the arguments {} are no JSON object of at most 1024 members: write them as "
                    "{{\"name\": \"value\"}}",
                    printable(call.arguments)));
  }
  const Rights rights(server.rules, subject);
  const bool is_listed = rights.shows(AccessKind::tool, call.tool);
  if (call.arguments.empty() && is_listed && rights.wants_arguments(call.tool)) {
    return depends_on_arguments(
        declared, rights, later_of(flows, server, call.tool, subject, Effect::allow), call.tool);
  }
  const AccessVerdict verdict = rights.decide({AccessKind::tool, call.tool, &*arguments});
  const Rule* rule = verdict.rule != nullptr ? verdict.rule : verdict.nearest;
  const Later later = later_of(flows, server, call.tool, subject, verdict.effect);
  const Json json{{"server", server.name},
                  {"tool", call.tool},
                  {"effect", word_of(verdict.effect)},
                  {"listed", is_listed},
                  {"reason", text_of(verdict)},
                  {"rule", rule == nullptr ? Json() : json_of(declared, *rule)},
                  {"flows", later.json}};
  return Explanation{
      .effect = verdict.effect,
      .text = fmt::format("{} {}: {}{}\n  {}{}\n{}{}", server.name, call.tool,
                          word_of(verdict.effect), later.headline, text_of(verdict),
                          rule == nullptr ? "" : fmt::format("\n  {}", place_of(declared, *rule)),
                          hint_of(rights, call, verdict), later.text),
      .json = dumped(json)};
}

}  // namespace cellblock
