#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "policy/tool_search/tool_document.h"

/// Which tools fit a question best: BM25 over names, titles, descriptions and parameters, of which
/// the first weigh most. Nothing is kept between questions.
namespace cellblock {

/// Of all documents together: more than twelve common servers have with their 303 tools (404,445
/// bytes). Servers write these texts, and 32 MiB of "a1a1a1" would have a term for each byte.
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
