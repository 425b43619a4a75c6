#include "supervisor/gateway/aggregate/uri_template.h"

#include <algorithm>
#include <vector>

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

}  // namespace cellblock::gateway
