#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Which tools fit a question best: BM25 over names, titles, descriptions and parameters, of which
/// the first weigh most. Nothing is kept between questions.
namespace cellblock {

// What is searched of a tool's definition.

inline constexpr std::size_t max_searched_description = 8U << 10;  ///< bytes, of one tool
inline constexpr std::size_t max_searched_parameters = 8U << 10;   ///< likewise, of all of them
inline constexpr std::size_t max_searched_parameter_count = 128;

struct ToolDocument {
  std::string name;
  std::string title;
  std::string description;  ///< its beginning
  std::string parameters;   ///< names and descriptions of those at the top
};

/// `definition`: raw JSON of an element of tools/list, validated. Untrusted text: what is over the
/// bounds is not searched. Without a name that is a string, the document is empty.
ToolDocument tool_document(std::string_view definition);

/// Bound of all documents together: more than twelve common servers with their 303 tools have
/// (404,445 bytes). Servers write these texts, and 32 MiB of "a1a1a1" would have a term for each
/// byte.
inline constexpr std::size_t max_ranked_terms = 500'000;

struct RankedTool {
  std::size_t index = 0;  ///< in the documents
  double score = 0;
};

struct Ranking {
  std::vector<RankedTool> tools;
  bool is_cut = false;  ///< there are more terms than max_ranked_terms: the rest was not looked at
};

/// The best ones first, at most `most`; equal ones in the order in which they stand. A tool whose
/// whole name is asked for comes before all others. Where the documents have too many terms, the
/// longest ones are cut: long texts of one server do not take the terms of another's tools. In time
/// in proportion to the text, and to the terms (max_ranked_terms) times those of the question
/// (max_query_terms).
Ranking rank_tools(std::span<const ToolDocument> documents, std::string_view words,
                   std::size_t most);

}  // namespace cellblock
