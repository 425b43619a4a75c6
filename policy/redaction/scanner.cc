#include "policy/redaction/scanner.h"

#include <fmt/format.h>
#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <utility>

namespace cellblock {

namespace {

// Of the automata of all expressions together: beyond that RE2 forgets what it has built, or walks
// without them, slower and still in linear time.
constexpr std::int64_t most_memory = 16LL << 20;
constexpr std::int64_t most_memory_of_one = 4LL << 20;
constexpr int largest_program = 20'000;  ///< in instructions: how often `{m,n}` repeats what

enum class Letters { bytes, utf8 };

RE2::Options options_for(Letters letters, std::int64_t memory) {
  RE2::Options options;
  options.set_encoding(letters == Letters::utf8 ? RE2::Options::EncodingUTF8
                                                : RE2::Options::EncodingLatin1);
  options.set_log_errors(false);
  options.set_max_mem(memory);
  return options;
}

TextRange range_of(const re2::StringPiece& part, std::string_view text) {
  if (part.data() == nullptr) return {};
  const auto begin = static_cast<std::size_t>(part.data() - text.data());
  return {begin, begin + part.size()};
}

// Where its text begins or ends is not where a message does in which it stands. What only looks
// like an anchor costs time, but for the negated classes, which are usual.
bool has_anchor(std::string_view pattern) {
  for (std::size_t at = pattern.find('^'); at != std::string_view::npos;
       at = pattern.find('^', at + 1)) {
    if (at == 0 || pattern[at - 1] != '[') return true;
  }
  return pattern.contains('$') || pattern.contains("\\A") || pattern.contains("\\z");
}

// Of a detector that knows a value by its label: the label as the name of an array, in which the
// value may stand behind others. Empty: it needs none.
std::string labelled_array(std::string_view pattern) {
  const std::size_t end_of_label = pattern.find(R"(\W+)");
  if (end_of_label == std::string_view::npos) return {};
  return std::string(pattern.substr(0, end_of_label)) + R"(\W*:\W*\[)";
}

}  // namespace

struct Scanner::Pattern {
  Pattern(const std::string& text, Letters letters, Refine refined)
      : expression(text, options_for(letters, most_memory_of_one)), refine(refined) {}

  /// The next match in `text` that begins at `from` or later, within a window that moves on.
  bool next(std::string_view text, std::size_t from, DetectorMatch& match) const;
  void find(std::string_view text, std::uint32_t what, std::vector<Finding>& found) const;

  RE2 expression;
  Refine refine;
};

// A search for the next match may have to read on behind one that it has, up to the end of what it
// is given: so that is never more than a window. A match that reaches the window's end may go on
// behind it, and is looked at again in a larger one; what that costs, the match is long.
bool Scanner::Pattern::next(std::string_view text, std::size_t from, DetectorMatch& match) const {
  constexpr int most_groups = 3;
  std::array<re2::StringPiece, most_groups> parts;
  const int groups = std::min(most_groups, expression.NumberOfCapturingGroups() + 1);
  std::size_t window = 2 * farthest_match;
  while (from < text.size()) {
    const std::size_t end = std::min(text.size(), from + window);
    if (!expression.Match({text.data(), text.size()}, from, end, RE2::UNANCHORED, parts.data(),
                          groups)) {
      if (end == text.size()) return false;
      from = end - std::min(farthest_match, window / 2);
      window = 2 * farthest_match;
      continue;
    }
    match = {text, range_of(parts[0], text), range_of(parts[0], text)};
    if (match.whole.end == end && end < text.size()) {
      const bool is_moved = match.whole.begin > from;
      window = is_moved ? 2 * farthest_match : 2 * window;
      from = match.whole.begin;
      continue;
    }
    for (int i = groups - 1; i > 0; --i) {
      if (!range_of(parts[i], text).empty()) match.group = range_of(parts[i], text);
    }
    return true;
  }
  return false;
}

void Scanner::Pattern::find(std::string_view text, std::uint32_t what,
                            std::vector<Finding>& found) const {
  DetectorMatch match;
  for (std::size_t from = 0; next(text, from, match);) {
    const TextRange where = refine == nullptr ? match.group : refine(match);
    if (!where.empty()) found.push_back({where, what});
    from = std::max({match.whole.end, where.end, match.whole.begin + 1});
  }
}

/// Expressions over letters of one kind: one automaton that tells whether any of them matches, and
/// each of them for where.
class Scanner::Bundle {
 public:
  Bundle(Letters letters, std::uint32_t first)
      : letters_(letters),
        first_(first),
        set_(options_for(letters, most_memory), RE2::UNANCHORED) {}

  Result<void> add(const std::string& pattern, Refine refine) {
    std::string error;
    if (set_.Add({pattern.data(), pattern.size()}, &error) < 0) return fail(std::move(error));
    patterns_.push_back(std::make_unique<Pattern>(pattern, letters_, refine));
    if (!patterns_.back()->expression.ok()) return fail(patterns_.back()->expression.error());
    is_anchored_ = is_anchored_ || has_anchor(pattern);
    return {};
  }

  /// may_find() also says true where this matches. Behind all others: it has no number.
  Result<void> add_hint(const std::string& pattern) {
    std::string error;
    if (set_.Add({pattern.data(), pattern.size()}, &error) < 0) return fail(std::move(error));
    return {};
  }

  Result<void> finish() {
    if (!patterns_.empty() && !set_.Compile())
      return fail("all expressions together are too large");
    return {};
  }

  bool may_find(std::string_view text) const {
    if (patterns_.empty()) return false;
    if (is_anchored_) return true;
    RE2::Set::ErrorInfo error{};
    return set_.Match({text.data(), text.size()}, nullptr, &error) ||
           error.kind != RE2::Set::kNoError;
  }

  void find(std::string_view text, std::vector<Finding>& found) const {
    if (patterns_.empty()) return;
    for (const int which : matching(text)) {
      const auto i = static_cast<std::uint32_t>(which);
      patterns_[i]->find(text, first_ + i, found);
    }
  }

 private:
  std::vector<int> matching(std::string_view text) const {
    RE2::Set::ErrorInfo error{};
    std::vector<int> which;
    if (set_.Match({text.data(), text.size()}, &which, &error)) {
      std::erase_if(which,
                    [this](int hit) { return std::cmp_greater_equal(hit, patterns_.size()); });
      return which;
    }
    if (error.kind == RE2::Set::kNoError) return {};
    which.resize(patterns_.size());
    std::iota(which.begin(), which.end(), 0);
    return which;
  }

  Letters letters_;
  std::uint32_t first_;
  RE2::Set set_;
  std::vector<std::unique_ptr<Pattern>> patterns_;
  bool is_anchored_ = false;
};

Scanner::Scanner() = default;
Scanner::~Scanner() = default;

Result<std::shared_ptr<const Scanner>> Scanner::compile(
    std::span<const std::string> detectors, std::span<const ExpressionRule> expressions) {
  std::shared_ptr<Scanner> made(new Scanner);
  made->detectors_ = std::make_unique<Bundle>(Letters::bytes, 0);
  for (const std::string& name : detectors) {
    const Detector* detector = find_detector(name);
    if (detector == nullptr) return fail(fmt::format("\"{}\" is no detector", name));
    CELLBLOCK_CHECK(made->detectors_->add(detector->pattern, detector->refine));
  }
  for (const std::string& name : detectors) {
    const std::string hint = labelled_array(find_detector(name)->pattern);
    if (!hint.empty()) CELLBLOCK_CHECK(made->detectors_->add_hint(hint));
  }
  made->expressions_ =
      std::make_unique<Bundle>(Letters::utf8, static_cast<std::uint32_t>(detectors.size()));
  for (const ExpressionRule& rule : expressions) {
    CELLBLOCK_CHECK(made->expressions_->add(rule.pattern, nullptr));
  }
  CELLBLOCK_CHECK(made->detectors_->finish());
  CELLBLOCK_CHECK(made->expressions_->finish());
  return made;
}

bool Scanner::may_find(std::string_view text) const {
  return detectors_->may_find(text) || expressions_->may_find(text);
}

void Scanner::find(std::string_view text, std::vector<Finding>& found) const {
  detectors_->find(text, found);
  expressions_->find(text, found);
}

void Scanner::find_in_member(std::string_view name, std::string_view value,
                             std::vector<Finding>& found) const {
  if (name.empty()) return find(value, found);
  const std::string member = fmt::format("{}: {}", name, value);
  const std::size_t begin = member.size() - value.size();
  std::vector<Finding> here;
  detectors_->find(member, here);
  for (Finding& finding : here) {
    if (finding.where.end <= begin) continue;
    finding.where = {std::max(finding.where.begin, begin) - begin, finding.where.end - begin};
    found.push_back(finding);
  }
  expressions_->find(value, found);
}

Result<void> check_pattern(const std::string& pattern) {
  if (pattern.empty() || pattern.size() > longest_pattern) {
    return fail(fmt::format("has {} bytes; allowed: 1 to {}", pattern.size(), longest_pattern));
  }
  const RE2 expression(pattern, options_for(Letters::utf8, most_memory_of_one));
  if (!expression.ok()) return fail(expression.error() + "; allowed: the syntax of RE2");
  if (expression.ProgramSize() > largest_program) {
    return fail("is too large when its repetitions are written out; allowed: smaller ones");
  }
  if (RE2::FullMatch("", expression)) {
    return fail("matches the empty text, which is everywhere; allowed: one that matches something");
  }
  return {};
}

}  // namespace cellblock
