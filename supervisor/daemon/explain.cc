#include "supervisor/daemon/explain.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <vector>

#include "policy/access/rights.h"
#include "policy/access/verdict_text.h"
#include "policy/jsonrpc.h"

namespace cellblock {
namespace {

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

std::string line_of(const DeclaredServer& declared, const Rule& rule) {
  std::vector<std::string> parts;
  if (rule.is_about_everything) parts.emplace_back("everything");
  add_names(parts, "tools", rule.tools);
  add_names(parts, "resources", rule.resources);
  add_names(parts, "prompts", rule.prompts);
  add_names(parts, "features", rule.features);
  if (parts.empty()) parts.emplace_back("nothing");
  return fmt::format("  {:<5} {}{} ({})\n", word_of(rule.effect), fmt::join(parts, "; "),
                     conditions_text(rule), place_of(declared, rule));
}

// By the scanner that the gateways have: what it does not take never reaches a rule.
Result<std::string> as_message(const ExplainedCall& call) {
  std::string line = R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":)" +
                     (call.arguments.empty() ? "{}" : call.arguments) + "}}";
  const std::size_t size = line.size();
  line.append(MessageScanner::padding, '\0');
  MessageScanner scanner;
  const auto message = scanner.scan(std::string_view(line).substr(0, size));
  if (!message)
    return fail(fmt::format("the arguments: {}", cellblock::explain(message.error().fault)));
  return std::string(message->params.in(line));
}

std::string hint_of(const Rights& rights, const ExplainedCall& call, const AccessVerdict& verdict) {
  if (verdict.effect == Effect::allow) return {};
  if (!rights.shows(AccessKind::tool, call.tool)) {
    return "  It does not exist for this user: it is in no list, and a call is answered \"Unknown "
           "tool\".\n";
  }
  return verdict.effect == Effect::ask
             ? "  It is listed, and a call is refused with approval_required.\n"
             : "  It is listed, and such a call is refused with denied.\n";
}

}  // namespace

std::string place_of(const DeclaredServer& declared, const Rule& rule) {
  return fmt::format("server.{}.{}, {}:{}", declared.server.name, rule.name, declared.file,
                     rule.line);
}

std::string explain_rights(const DeclaredServer& declared, const Subject& subject) {
  const Server& server = declared.server;
  const Rights rights(server.rules, subject);
  if (!rights.may_use_server()) {
    std::string text = fmt::format("{}: not for this user\n", server.name);
    if (rights.giving().empty()) return text + "  no rule gives anything\n";
    for (const Rule* rule : rights.taking()) {
      if (rule->is_about_everything) text += line_of(declared, *rule);
    }
    return text;
  }
  std::string text =
      fmt::format("{}: the strictest of these decides; nothing else is given\n", server.name);
  for (const Rule* rule : rights.taking()) {
    if (rule->effect == Effect::deny) text += line_of(declared, *rule);
  }
  for (const Rule* rule : rights.taking()) {
    if (rule->effect == Effect::ask) text += line_of(declared, *rule);
  }
  for (const Rule* rule : rights.giving()) {
    if (rule->effect == Effect::allow) text += line_of(declared, *rule);
  }
  return text;
}

Result<std::string> explain_call(const DeclaredServer& declared, const Subject& subject,
                                 const ExplainedCall& call) {
  const Server& server = declared.server;
  const std::string params = CELLBLOCK_TRY(as_message(call));
  const auto arguments = read_arguments(params);
  if (!arguments) return fail("the arguments are no JSON object of at most 1024 members");
  const Rights rights(server.rules, subject);
  const AccessVerdict verdict = rights.decide({AccessKind::tool, call.tool, &*arguments});
  const Rule* rule = verdict.rule != nullptr ? verdict.rule : verdict.nearest;
  return fmt::format("{} {}: {}\n  {}{}\n{}", server.name, call.tool, word_of(verdict.effect),
                     text_of(verdict),
                     rule == nullptr ? "" : fmt::format("\n  {}", place_of(declared, *rule)),
                     hint_of(rights, call, verdict));
}

}  // namespace cellblock
