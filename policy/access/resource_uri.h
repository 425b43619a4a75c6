#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "policy/config/access_rule.h"

/// The URI of a resource in the spelling in which rules compare it.
///
/// One resource has many spellings: `file:///a`, `FILE://localhost/./%61`. Comparison uses the
/// normal one: scheme in lower case, escapes decoded, `.` and empty segments left out, the host in
/// lower case where the scheme makes it a DNS name. Where servers may read a URI in two ways (`..`,
/// an escaped slash, no scheme) there is no normal spelling: the URI is unclear.
namespace cellblock {

struct ResourceUri {
  std::string_view sent;  ///< the text that this was made of, which outlives it
  std::string scheme;     ///< in lower case, without the colon; empty: it has none
  std::string text;       ///< the normal spelling; empty if unclear
  std::size_t head = 0;   ///< of `text`: the length of scheme and authority
  bool is_clear = false;
};

ResourceUri read_uri(std::string_view uri);

/// What URIs begin with: of a prefix in a rule, or of a template up to its first variable. Its last
/// part may go on, so nothing is left out of it.
ResourceUri read_uri_beginning(std::string_view beginning);

/// A pattern of URIs in the normal spelling, or as it is where it is unclear: then an exact one
/// gives what is spelled so, and a prefix gives nothing.
NamePattern uri_pattern(std::string_view text, bool is_prefix);

/// Whether a rule that gives `pattern` gives the URI. Of an unclear one: only `*` and its exact
/// spelling do.
bool gives_uri(const NamePattern& pattern, const ResourceUri& uri);

/// Whether a rule that takes `pattern` takes the URI. Stricter than gives_uri(): in scheme and
/// authority any case is meant, an exact pattern means the URI with a query, a fragment or a slash
/// at its end as well, and an unclear URI is meant by each pattern of its scheme.
bool takes_uri(const NamePattern& pattern, const ResourceUri& uri);

/// The same of a template, by the beginning of what it stands for: some of its URIs are given, all
/// of them are taken.
bool gives_some(const NamePattern& pattern, const ResourceUri& beginning);
bool takes_all(const NamePattern& pattern, const ResourceUri& beginning);

}  // namespace cellblock
