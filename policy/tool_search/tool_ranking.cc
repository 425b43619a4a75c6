#include "policy/tool_search/tool_ranking.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "policy/base/trimmed.h"
#include "policy/json/json_text.h"
#include "policy/tool_search/search_terms.h"

namespace cellblock {
namespace {

constexpr std::size_t max_name = 512;

using Members = std::vector<RawMember>;

void append_text(std::string& text, const Members& members, std::string_view name,
                 std::size_t most) {
  const RawMember* member = find_member(members, name);
  if (member == nullptr || !is_raw_string(member->value) || text.size() >= most) return;
  append_decoded(text, member->value, most);
}

std::string text_in(const Members& members, std::string_view name, std::size_t most) {
  std::string text;
  append_text(text, members, name, most);
  return text;
}

std::string parameters_in(std::string_view schema) {
  std::string text;
  const auto members = raw_members(schema);
  const RawMember* properties = members ? find_member(*members, "properties") : nullptr;
  const auto parameters = properties != nullptr ? raw_members(properties->value) : std::nullopt;
  if (!parameters) return text;
  std::size_t count = 0;
  for (const RawMember& parameter : *parameters) {
    if (++count > max_searched_parameter_count) break;
    if (text.size() + parameter.name.size() >= max_searched_parameters) break;
    text.append(parameter.name).push_back(' ');
    const auto about = raw_members(parameter.value);
    if (about) append_text(text, *about, "description", max_searched_parameters);
    text.push_back(' ');
  }
  return text;
}

}  // namespace

ToolDocument tool_document(std::string_view definition) {
  const auto members = raw_members(definition);
  if (!members) return {};
  ToolDocument document{.name = text_in(*members, "name", max_name)};
  if (document.name.empty()) return document;
  document.title = text_in(*members, "title", max_name);
  document.description = text_in(*members, "description", max_searched_description);
  if (const RawMember* schema = find_member(*members, "inputSchema")) {
    document.parameters = parameters_in(schema->value);
  }
  return document;
}

namespace {

// The usual ones of BM25. A long description is no fault of a tool's, so length counts for less.
constexpr double saturation = 1.2;
constexpr double length_share = 0.4;

constexpr double name_weight = 3.0;
constexpr double title_weight = 2.0;
constexpr double description_weight = 1.0;
constexpr double parameters_weight = 0.4;

// "repo" finds "repository", and "repositories" finds "repo": less surely than itself.
constexpr std::size_t least_shared_beginning = 4;
constexpr double beginning_weight = 0.5;
constexpr double group_weight = 0.5;  // "folder" finds "directory"

// A server that repeats a word does not come closer by it.
constexpr double most_of_field = 3;

constexpr std::size_t max_terms_of_field = 1500;
constexpr double whole_name_score = 1e6;

using Counts = std::vector<double>;  // by the question's terms

struct Counted {
  Counts counts;
  double length = 0;
};

struct Term {
  std::string text;
  unsigned group = 0;
};
struct Question {
  std::vector<Term> terms;
  bool has_groups = false;  ///< else no word of a document needs its group
};

Question question_of(std::string_view words) {
  Question question;
  for (std::string& term : query_terms(words)) {
    const unsigned group = word_group(term);
    question.has_groups = question.has_groups || group != 0;
    question.terms.push_back({std::move(term), group});
  }
  return question;
}

/// Deals max_ranked_terms out: to each document its part of what is left, and what it does not use
/// to those after it.
class TermBudget {
 public:
  explicit TermBudget(std::size_t documents) : documents_(documents) {}

  void begin_document() {
    left_ += std::exchange(share_, 0);
    share_ = left_ / documents_--;
    left_ -= share_;
  }

  std::vector<std::string> take(std::string_view text) {
    const std::size_t most = std::min(share_, max_terms_of_field);
    std::vector<std::string> terms = terms_of(text, most + 1);
    if (terms.size() > most) {
      terms.pop_back();
      is_cut_ = is_cut_ || share_ < max_terms_of_field;
    }
    share_ -= terms.size();
    return terms;
  }

  bool is_cut() const { return is_cut_; }

 private:
  std::size_t left_ = max_ranked_terms;
  std::size_t share_ = 0;  ///< of the document that is read
  std::size_t documents_;  ///< that are still to come
  bool is_cut_ = false;
};

double likeness(const Term& asked, const Term& term) {
  if (asked.text == term.text) return 1;
  if (asked.group != 0 && asked.group == term.group) return group_weight;
  const bool may = std::min(asked.text.size(), term.text.size()) >= least_shared_beginning;
  const bool is_beginning =
      may && (term.text.starts_with(asked.text) || asked.text.starts_with(term.text));
  return is_beginning ? beginning_weight : 0;
}

void count_field(std::vector<std::string> words, double weight, const Question& question,
                 Counted& counted) {
  Counts counts(question.terms.size());
  for (std::string& word : words) {
    const unsigned group = question.has_groups ? word_group(word) : 0;
    const Term term{std::move(word), group};
    counted.length += weight;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      counts[i] += likeness(question.terms[i], term);
    }
  }
  for (std::size_t i = 0; i < counts.size(); ++i) {
    counted.counts[i] += weight * std::min(counts[i], most_of_field);
  }
}

Counted count(const ToolDocument& document, const Question& question, TermBudget& budget) {
  Counted counted{.counts = Counts(question.terms.size())};
  budget.begin_document();
  count_field(budget.take(document.name), name_weight, question, counted);
  count_field(budget.take(document.title), title_weight, question, counted);
  count_field(budget.take(document.description), description_weight, question, counted);
  count_field(budget.take(document.parameters), parameters_weight, question, counted);
  return counted;
}

std::size_t text_bytes(const ToolDocument& document) {
  return document.name.size() + document.title.size() + document.description.size() +
         document.parameters.size();
}

// What the short ones do not use is for the long ones, so these are cut only where they have to be.
std::vector<std::size_t> shortest_first(std::span<const ToolDocument> documents) {
  std::vector<std::size_t> order(documents.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {},
                    [documents](std::size_t i) { return std::pair(text_bytes(documents[i]), i); });
  return order;
}

Counts rarity(const std::vector<Counted>& all, std::size_t terms) {
  Counts rarities(terms);
  const auto documents = static_cast<double>(all.size());
  for (std::size_t i = 0; i < terms; ++i) {
    const auto with = static_cast<double>(
        std::ranges::count_if(all, [i](const Counted& counted) { return counted.counts[i] > 0; }));
    rarities[i] = std::log1p((documents - with + 0.5) / (with + 0.5));
  }
  return rarities;
}

double mean_length(const std::vector<Counted>& all) {
  double sum = 0;
  for (const Counted& counted : all) sum += counted.length;
  return std::max(1.0, sum / static_cast<double>(all.size()));
}

double score_of(const Counted& counted, const Counts& rarities, double mean) {
  const double norm = 1 - length_share + length_share * counted.length / mean;
  double score = 0;
  for (std::size_t i = 0; i < rarities.size(); ++i) {
    const double count = counted.counts[i];
    score += rarities[i] * count * (saturation + 1) / (count + saturation * norm);
  }
  return score;
}

}  // namespace

Ranking rank_tools(std::span<const ToolDocument> documents, std::string_view words,
                   std::size_t most) {
  if (documents.empty()) return {};
  const Question question = question_of(words);
  TermBudget budget(documents.size());
  std::vector<Counted> counted(documents.size());
  for (const std::size_t i : shortest_first(documents)) {
    counted[i] = count(documents[i], question, budget);
  }

  const Counts rarities = rarity(counted, question.terms.size());
  const double mean = mean_length(counted);
  const std::string_view whole = trimmed(words);
  std::vector<RankedTool> ranked;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    double score = score_of(counted[i], rarities, mean);
    if (!whole.empty() && documents[i].name == whole) score += whole_name_score;
    if (score > 0) ranked.push_back({i, score});
  }
  std::ranges::stable_sort(ranked, std::ranges::greater{}, &RankedTool::score);
  if (ranked.size() > most) ranked.resize(most);
  return {std::move(ranked), budget.is_cut()};
}

}  // namespace cellblock
