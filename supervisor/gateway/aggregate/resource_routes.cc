#include "supervisor/gateway/aggregate/resource_routes.h"

#include <algorithm>
#include <utility>

#include "supervisor/gateway/checks/kept_results.h"

namespace cellblock::gateway {
namespace {

/// After which bytes of the URI the part of the template so far may end.
using Reached = std::vector<bool>;

/// What an expression may expand to: `lead` (if any) and then bytes that its kind allows.
struct Gap {
  char lead = '\0';
  bool may_be_empty = false;
  bool crosses_segments = false;

  bool allows(char c) const { return crosses_segments || (c != '/' && c != '?' && c != '#'); }
};

Gap gap_of(std::string_view expression) {
  switch (expression.empty() ? '\0' : expression.front()) {
    case '+':
      return {.crosses_segments = true};
    case '#':
    case '?':
    case '&':
    case ';':
      return {.lead = expression.front(), .may_be_empty = true, .crosses_segments = true};
    case '/':
      return {.lead = '/', .may_be_empty = true, .crosses_segments = expression.ends_with('*')};
    case '.':
      return {.lead = '.', .may_be_empty = true};
    default:
      return {};
  }
}

Reached after_literal(const Reached& from, std::string_view literal, std::string_view uri) {
  Reached to(from.size(), false);
  for (std::size_t i = 0; i + literal.size() < from.size(); ++i) {
    if (from[i] && uri.substr(i).starts_with(literal)) to[i + literal.size()] = true;
  }
  return to;
}

Reached after_gap(const Reached& from, const Gap& gap, std::string_view uri) {
  Reached to(from.size(), false);
  bool inside = false;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] && gap.may_be_empty) to[i] = true;
    if (i == uri.size()) break;
    const bool begins = from[i] && (gap.lead == '\0' ? gap.allows(uri[i]) : gap.lead == uri[i]);
    inside = begins || (inside && gap.allows(uri[i]));
    if (inside) to[i + 1] = true;
  }
  return to;
}

}  // namespace

bool template_matches(std::string_view uri_template, std::string_view uri) {
  // A template of nothing but what may be left out would match it, and it is nobody's resource.
  if (uri.empty()) return false;
  if (uri_template.size() > max_template || uri.size() > max_matched_uri) return false;
  if (std::ranges::count(uri_template, '{') > std::ptrdiff_t{max_expressions}) return false;
  Reached reached(uri.size() + 1, false);
  reached[0] = true;
  while (!uri_template.empty()) {
    const std::size_t open = uri_template.find('{');
    const std::size_t close = uri_template.find('}', open == uri_template.npos ? 0 : open);
    if (open == uri_template.npos || close == uri_template.npos) {
      reached = after_literal(reached, uri_template, uri);
      break;
    }
    if (open > 0) reached = after_literal(reached, uri_template.substr(0, open), uri);
    reached = after_gap(reached, gap_of(uri_template.substr(open + 1, close - open - 1)), uri);
    uri_template.remove_prefix(close + 1);
  }
  return reached.back();
}

bool templates_may_overlap(std::string_view one, std::string_view other) {
  const std::string_view a = literal_beginning(one);
  const std::string_view b = literal_beginning(other);
  return a.starts_with(b) || b.starts_with(a);
}

namespace {

constexpr std::string_view general_prefix = "cellblock://";
constexpr std::string_view ui_scheme = "ui://";
constexpr std::string_view ui_prefix = "ui://cellblock/";

bool is_qualified(std::string_view uri) {
  return uri.starts_with(general_prefix) || uri.starts_with(ui_prefix);
}

// A template that does not even say the scheme would be everybody's resources.
bool says_scheme(std::string_view uri_template) {
  return literal_beginning(uri_template).find(':') != std::string_view::npos;
}

std::string scheme_of(std::string_view uri) { return std::string(uri.substr(0, uri.find(':'))); }

}  // namespace

void ResourceRoutes::clear_listed() {
  listed_.clear();
  templates_.clear();
  template_servers_ = 0;
  schemes_.clear();
}

void ResourceRoutes::list_resource(std::uint32_t server, const std::string& uri) {
  if (uri.empty()) return;
  listed_.try_emplace(uri, server);
  note_scheme(server, uri);
}

ResourceRoutes::Template ResourceRoutes::template_of(std::uint32_t server,
                                                     const std::string& uri_template) {
  return {server, uri_template, literal_beginning(uri_template).size()};
}

void ResourceRoutes::list_template(std::uint32_t server, const std::string& uri_template) {
  if (!says_scheme(uri_template)) return;
  note_scheme(server, uri_template);
  const auto same = std::ranges::count(templates_, server, &Template::server);
  if (same == std::ptrdiff_t{max_templates}) return;
  if (same == 0) ++template_servers_;
  Template added = template_of(server, uri_template);
  const auto place = std::ranges::upper_bound(
      templates_, added, [](const Template& a, const Template& b) { return a.comes_before(b); });
  templates_.insert(place, std::move(added));
}

void ResourceRoutes::list_reference(std::uint32_t server, const std::string& uri) {
  if (!uri.empty()) listed_.try_emplace(uri, server);
}

void ResourceRoutes::note_scheme(std::uint32_t server, std::string_view uri) {
  const auto [entry, added] = schemes_.try_emplace(scheme_of(uri), server);
  if (!added && entry->second != server) entry->second.reset();
}

// The original stands there as it is, not encoded: so templates stay templates, and taking the
// prefix off gives the original back byte for byte.
std::string ResourceRoutes::qualified(std::uint32_t server, const std::string& uri) const {
  if (uri.starts_with(ui_scheme)) {
    return std::string(ui_prefix) + members_.name(server) + "/" + uri.substr(ui_scheme.size());
  }
  return std::string(general_prefix) + members_.name(server) + "/" + uri;
}

std::optional<ResourceRoutes::Route> ResourceRoutes::unqualified(std::string_view uri) const {
  const bool is_ui = uri.starts_with(ui_prefix);
  uri.remove_prefix(is_ui ? ui_prefix.size() : general_prefix.size());
  const std::size_t end = uri.find('/');
  if (end == std::string_view::npos) return std::nullopt;
  const auto server = members_.find(uri.substr(0, end));
  if (!server) return std::nullopt;
  if (uri.size() == end + 1) return std::nullopt;
  return Route{*server, std::string(is_ui ? ui_scheme : "").append(uri.substr(end + 1))};
}

const std::uint32_t* ResourceRoutes::owner(const std::string& uri, Effort& effort) const {
  effort.was_enough = true;
  if (const auto listed = listed_.find(uri); listed != listed_.end()) return &listed->second;
  if (const std::uint32_t* server = owner_by_template(uri, effort)) return server;
  const auto mentioned = mentioned_.find(uri);
  return mentioned == mentioned_.end() ? nullptr : &mentioned->second;
}

bool ResourceRoutes::spend(const Template& entry, std::string_view uri, Effort& effort) const {
  const std::size_t share = max_effort / template_servers_;
  std::size_t& spent = effort.spent[entry.server];
  spent = std::min(share, spent + match_effort(entry.text, uri));
  return spent < share;
}

const std::uint32_t* ResourceRoutes::owner_by_template(const std::string& uri,
                                                       Effort& effort) const {
  for (const Template& entry : templates_) {
    if (!uri.starts_with(literal_beginning(entry.text))) continue;
    if (!spend(entry, uri, effort)) {
      effort.was_enough = false;
    } else if (template_matches(entry.text, uri)) {
      return &entry.server;
    }
  }
  return nullptr;
}

std::optional<ResourceRoutes::Route> ResourceRoutes::find(std::string_view shown,
                                                          Certainty certainty,
                                                          Effort& effort) const {
  if (shown.empty()) return std::nullopt;
  if (is_qualified(shown)) return unqualified(shown);
  const std::string uri(shown);
  if (const std::uint32_t* server = owner(uri, effort)) return Route{*server, uri};
  if (certainty == Certainty::certain) return std::nullopt;
  const auto scheme = schemes_.find(scheme_of(uri));
  if (scheme == schemes_.end() || !scheme->second) return std::nullopt;
  return Route{*scheme->second, uri};
}

std::string ResourceRoutes::shown(std::uint32_t server, const std::string& uri,
                                  Effort& effort) const {
  const auto back = find(uri, Certainty::certain, effort);
  // It might lead somewhere else where there is more time to look.
  const bool leads_back = back == Route{server, uri} && effort.was_enough;
  return leads_back ? uri : qualified(server, uri);
}

std::string ResourceRoutes::shown_template(std::uint32_t server,
                                           const std::string& uri_template) const {
  const Template wanted = template_of(server, uri_template);
  const bool is_anothers = std::ranges::any_of(templates_, [&](const Template& entry) {
    return entry.server != server && entry.comes_before(wanted) &&
           templates_may_overlap(entry.text, uri_template);
  });
  const bool leads_back = says_scheme(uri_template) && !is_anothers && !is_qualified(uri_template);
  return !leads_back ? qualified(server, uri_template) : uri_template;
}

std::string ResourceRoutes::mention(std::uint32_t server, const std::string& uri, Effort& effort) {
  // cellblock's own, and no server's.
  if (uri.empty() || is_kept_uri(uri)) return uri;
  const bool may_be_kept = !is_qualified(uri) && uri.size() <= max_matched_uri;
  if (may_be_kept && owner(uri, effort) == nullptr && effort.was_enough &&
      mentioned_.size() < max_mentioned) {
    mentioned_.emplace(uri, server);
  }
  return shown(server, uri, effort);
}

}  // namespace cellblock::gateway
