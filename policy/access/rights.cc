#include "policy/access/rights.h"

#include <algorithm>

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

/// Of a template: what every URI that it stands for begins with.
std::string_view beginning_of(std::string_view uri_template) {
  return uri_template.substr(0, uri_template.find('{'));
}

bool is_open(std::string_view uri_template) {
  return uri_template.find('{') != std::string_view::npos;
}

/// Some URI of the template is meant.
bool reaches(const NamePattern& pattern, std::string_view uri_template) {
  if (is_named_by(pattern, uri_template)) return true;
  return is_open(uri_template) && pattern.text.starts_with(beginning_of(uri_template));
}

/// Every URI of the template is meant.
bool covers(const NamePattern& pattern, std::string_view uri_template) {
  if (!is_open(uri_template)) return is_named_by(pattern, uri_template);
  return pattern.is_prefix && beginning_of(uri_template).starts_with(pattern.text);
}

bool gives_name(const Rule& rule, AccessKind kind, std::string_view name) {
  if (rule.is_about_everything) return true;
  const auto meant = [&](const NamePattern& pattern) {
    return kind == AccessKind::resource_template ? reaches(pattern, name)
                                                 : is_named_by(pattern, name);
  };
  return std::ranges::any_of(patterns_of(rule, kind), meant);
}

bool takes_name(const Rule& rule, AccessKind kind, std::string_view name) {
  if (rule.is_about_everything) return true;
  const auto meant = [&](const NamePattern& pattern) {
    return kind == AccessKind::resource_template ? covers(pattern, name)
                                                 : is_named_by(pattern, name);
  };
  return std::ranges::any_of(patterns_of(rule, kind), meant);
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

bool binds(const Rule& rule, const Subject& subject) {
  return rule.binds_everybody || (rule.roles & subject.held) != 0 ||
         is_one_of(subject.who, rule.uids, rule.gids);
}

bool gives_to(const Rule& rule, const Subject& subject) {
  if (rule.effect == Effect::deny || !binds(rule, subject)) return false;
  return subject.narrowed == 0 || (rule.roles & subject.narrowed) != 0;
}

const Rule* taken_by(const std::vector<const Rule*>& taking, const AccessRequest& request,
                     Effect effect) {
  for (const Rule* rule : taking) {
    if (rule->effect == effect && takes_name(*rule, request.kind, request.name) &&
        may_be_meant(*rule, request.arguments)) {
      return rule;
    }
  }
  return nullptr;
}

AccessVerdict given_by(const std::vector<const Rule*>& giving, const AccessRequest& request) {
  AccessVerdict none;
  for (const Rule* rule : giving) {
    if (!gives_name(*rule, request.kind, request.name)) continue;
    const ArgumentFault fault = fault_of(*rule, request.arguments);
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
  return gives_name(rule, AccessKind::tool, tool);
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
  if (const Rule* rule = taken_by(taking_, request, Effect::deny)) {
    return {.effect = Effect::deny, .rule = rule};
  }
  const AccessVerdict given = given_by(giving_, request);
  if (given.effect != Effect::allow) return given;
  if (const Rule* rule = taken_by(taking_, request, Effect::ask)) {
    return {.effect = Effect::ask, .rule = rule};
  }
  return given;
}

bool Rights::shows(AccessKind kind, std::string_view name) const {
  const bool is_denied = std::ranges::any_of(taking_, [&](const Rule* rule) {
    return rule->effect == Effect::deny && rule->arguments.empty() && takes_name(*rule, kind, name);
  });
  return !is_denied && std::ranges::any_of(giving_, [&](const Rule* rule) {
    return gives_name(*rule, kind, name);
  });
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

}  // namespace cellblock
