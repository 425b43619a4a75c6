#include "policy/access/rights.h"

#include <algorithm>
#include <cstddef>

#include "policy/access/resource_uri.h"

namespace cellblock {
namespace {

using Patterns = std::vector<NamePattern>;

const Patterns& patterns_of(const Rule& rule, AccessKind kind) {
  switch (kind) {
    case AccessKind::tool:
      return rule.tools;
    case AccessKind::resource:
    case AccessKind::resource_template:
      return rule.resources;
    case AccessKind::prompt:
      return rule.prompts;
    case AccessKind::feature:
      break;
  }
  return rule.features;
}

bool is_named_by(const NamePattern& pattern, std::string_view name) {
  return pattern.is_prefix ? name.starts_with(pattern.text) : name == pattern.text;
}

/// What is asked for, read once for all rules.
struct Named {
  AccessKind kind;
  std::string_view name;
  ResourceUri uri;  ///< of a resource; of a template: what all that it stands for begins with
};

// A template without a variable is a URI.
Named named(AccessKind kind, std::string_view name) {
  const std::size_t variable = name.find('{');
  if (kind == AccessKind::resource_template && variable != std::string_view::npos) {
    return {kind, name, read_uri_beginning(name.substr(0, variable))};
  }
  if (kind == AccessKind::resource_template) return {AccessKind::resource, name, read_uri(name)};
  return {kind, name, kind == AccessKind::resource ? read_uri(name) : ResourceUri{}};
}

bool is_given(const NamePattern& pattern, const Named& asked) {
  if (asked.kind == AccessKind::resource) return gives_uri(pattern, asked.uri);
  if (asked.kind == AccessKind::resource_template) return gives_some(pattern, asked.uri);
  return is_named_by(pattern, asked.name);
}

bool is_taken(const NamePattern& pattern, const Named& asked) {
  if (asked.kind == AccessKind::resource) return takes_uri(pattern, asked.uri);
  if (asked.kind == AccessKind::resource_template) return takes_all(pattern, asked.uri);
  return is_named_by(pattern, asked.name);
}

bool gives_name(const Rule& rule, const Named& asked) {
  return rule.is_about_everything ||
         std::ranges::any_of(patterns_of(rule, asked.kind),
                             [&](const NamePattern& pattern) { return is_given(pattern, asked); });
}

bool takes_name(const Rule& rule, const Named& asked) {
  return rule.is_about_everything ||
         std::ranges::any_of(patterns_of(rule, asked.kind),
                             [&](const NamePattern& pattern) { return is_taken(pattern, asked); });
}

bool names_every(const Rule& rule, AccessKind kind) {
  if (rule.is_about_everything) return true;
  return std::ranges::any_of(patterns_of(rule, kind), [](const NamePattern& pattern) {
    return pattern.is_prefix && pattern.text.empty();
  });
}

bool has_nothing_of(const Rule& rule, AccessKind kind) {
  return !rule.is_about_everything && patterns_of(rule, kind).empty();
}

const Rule* taken_by(const std::vector<const Rule*>& taking, const Named& asked,
                     const AccessRequest& request, Effect effect) {
  for (const Rule* rule : taking) {
    if (rule->effect == effect && takes_name(*rule, asked) &&
        may_be_meant(*rule, request.arguments, request.defaults)) {
      return rule;
    }
  }
  return nullptr;
}

AccessVerdict given_by(const std::vector<const Rule*>& giving, const Named& asked,
                       const Arguments* arguments) {
  AccessVerdict none;
  for (const Rule* rule : giving) {
    if (!gives_name(*rule, asked)) continue;
    const ArgumentFault fault = fault_of(*rule, arguments);
    if (fault.kind == ArgumentFault::Kind::none) return {.effect = rule->effect, .rule = rule};
    if (none.nearest == nullptr) none.nearest = rule, none.fault = fault;
  }
  return none;
}

std::string_view short_form_name(AccessKind kind) {
  switch (kind) {
    case AccessKind::tool:
      return "allow.tools";
    case AccessKind::resource:
    case AccessKind::resource_template:
      return "allow.resources";
    case AccessKind::prompt:
      return "allow.prompts";
    case AccessKind::feature:
      break;
  }
  return "client_features";
}

}  // namespace

std::string_view name_of(const AccessVerdict& verdict, AccessKind kind) {
  if (verdict.rule == nullptr) return verdict.nearest == nullptr ? "default" : "arguments";
  return verdict.rule->name == "allow" ? short_form_name(kind)
                                       : std::string_view(verdict.rule->name);
}

bool concerns_tool(const Rule& rule, std::string_view tool) {
  return gives_name(rule, named(AccessKind::tool, tool));
}

Rights::Rights(std::span<const Rule> rules, const Subject& subject) {
  for (const Rule& rule : rules) {
    if (gives_to(rule, subject)) giving_.push_back(&rule);
    if (rule.effect != Effect::allow && binds(rule, subject)) taking_.push_back(&rule);
  }
}

bool Rights::may_use_server() const {
  const bool is_denied = std::ranges::any_of(taking_, [](const Rule* rule) {
    return rule->effect == Effect::deny && rule->is_about_everything;
  });
  return !giving_.empty() && !is_denied;
}

// An ask both gives and takes: where another rule allows, it still asks first.
AccessVerdict Rights::decide(const AccessRequest& request) const {
  const Named asked = named(request.kind, request.name);
  if (const Rule* rule = taken_by(taking_, asked, request, Effect::deny)) {
    return {.effect = Effect::deny, .rule = rule};
  }
  const AccessVerdict given = given_by(giving_, asked, request.arguments);
  if (given.effect != Effect::allow) return given;
  if (const Rule* rule = taken_by(taking_, asked, request, Effect::ask)) {
    return {.effect = Effect::ask, .rule = rule};
  }
  return given;
}

bool Rights::shows(AccessKind kind, std::string_view name) const {
  const Named asked = named(kind, name);
  const bool is_denied = std::ranges::any_of(taking_, [&](const Rule* rule) {
    return rule->effect == Effect::deny && rule->arguments.empty() && takes_name(*rule, asked);
  });
  return !is_denied &&
         std::ranges::any_of(giving_, [&](const Rule* rule) { return gives_name(*rule, asked); });
}

bool Rights::shows_all(AccessKind kind) const {
  const bool all =
      std::ranges::any_of(giving_, [&](const Rule* rule) { return names_every(*rule, kind); });
  return all && std::ranges::all_of(taking_, [&](const Rule* rule) {
           return rule->effect == Effect::ask || !rule->arguments.empty() ||
                  has_nothing_of(*rule, kind);
         });
}

bool Rights::shows_none(AccessKind kind) const {
  return std::ranges::all_of(giving_,
                             [&](const Rule* rule) { return has_nothing_of(*rule, kind); });
}

bool Rights::allows_all(AccessKind kind) const {
  const bool all = std::ranges::any_of(giving_, [&](const Rule* rule) {
    return rule->effect == Effect::allow && rule->arguments.empty() && names_every(*rule, kind);
  });
  return all && std::ranges::all_of(taking_,
                                    [&](const Rule* rule) { return has_nothing_of(*rule, kind); });
}

bool Rights::wants_arguments(std::string_view tool) const {
  const auto about = [&](const Rule* rule) {
    return !rule->arguments.empty() && concerns_tool(*rule, tool);
  };
  return std::ranges::any_of(giving_, about) || std::ranges::any_of(taking_, about);
}

bool asks_administrator(const Rights& rights, std::string_view tool) {
  return std::ranges::any_of(rights.taking(), [&](const Rule* rule) {
    return rule->effect == Effect::ask && rule->approver == Approver::admin &&
           concerns_tool(*rule, tool);
  });
}

}  // namespace cellblock
