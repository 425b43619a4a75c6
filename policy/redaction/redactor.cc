#include "policy/redaction/redactor.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "policy/redaction/json_tokens.h"

namespace cellblock {

namespace {

std::string label(std::string_view name) { return fmt::format("[redacted: {}]", name); }

// What is looked for, so that equal ones are compiled once. No name or pattern has a NUL in it.
std::string key_of(std::span<const std::string> detectors,
                   std::span<const ExpressionRule> expressions) {
  std::string key;
  for (const std::string& detector : detectors) key += detector + '\0';
  for (const ExpressionRule& rule : expressions) key += '\0' + rule.pattern;
  return key;
}

}  // namespace

std::string counts_text(const FoundCounts& found) {
  std::string text;
  for (const auto& [name, count] : found) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, count);
  }
  return text;
}

Result<Redactor> Redactor::make(Parts parts, Scanners& scanners) {
  Redactor made(parts.marks, std::move(parts.secrets));
  made.to_server_ = CELLBLOCK_TRY(make_side(parts.rules, Direction::to_server, scanners));
  made.to_host_ = CELLBLOCK_TRY(make_side(parts.rules, Direction::to_host, scanners));
  if (made.finder_.is_empty()) {
    made.to_server_.secrets = made.to_host_.secrets = RedactionAction::off;
  }
  return made;
}

Result<Redactor::Side> Redactor::make_side(const RedactionRules& rules, Direction direction,
                                           Scanners& scanners) {
  Side side{.secrets = rules.secrets.in(direction), .scanner = nullptr, .rules = {}};
  std::vector<std::string> detectors;
  std::vector<ExpressionRule> expressions;
  for (const DetectorRule& rule : rules.detectors) {
    if (rule.choice.in(direction) == RedactionAction::off) continue;
    detectors.push_back(rule.detector);
    side.rules.push_back({rule.detector, rule.choice.in(direction)});
  }
  for (const ExpressionRule& rule : rules.expressions) {
    if (rule.choice.in(direction) == RedactionAction::off) continue;
    expressions.push_back(rule);
    side.rules.push_back({rule.name, rule.choice.in(direction)});
  }
  if (side.rules.empty()) return side;
  auto& scanner = scanners[key_of(detectors, expressions)];
  if (scanner == nullptr) scanner = CELLBLOCK_TRY(Scanner::compile(detectors, expressions));
  side.scanner = scanner;
  return side;
}

/// One text, or the texts of one message.
class Redactor::Walk {
 public:
  Walk(const Redactor& redactor, const Side& side) : redactor_(redactor), side_(side) {}

  /// What is found in a text, and what of it is to be replaced: in their order, apart.
  std::vector<Finding> look(std::string_view member, std::string_view text) {
    std::vector<Finding> found;
    if (side_.secrets != RedactionAction::off) redactor_.finder_.find(text, found);
    const auto first_rule = static_cast<std::uint32_t>(redactor_.secrets_.size());
    const std::size_t secrets = found.size();
    if (side_.scanner != nullptr) side_.scanner->find_in_member(member, text, found);
    for (std::size_t i = secrets; i < found.size(); ++i) found[i].what += first_rule;
    std::ranges::sort(found, {}, [](const Finding& finding) {
      return std::tuple(finding.where.begin, finding.where.end, finding.what);
    });
    merge(found);
    for (const Finding& finding : found) note(finding);
    std::erase_if(found, [this](const Finding& finding) {
      return action_of(finding.what) < RedactionAction::redact;
    });
    return apart(found);
  }

  std::string_view name_of(std::uint32_t what) const {
    const std::size_t secrets = redactor_.secrets_.size();
    return what < secrets ? redactor_.secrets_[what] : side_.rules[what - secrets].name;
  }

  void json(std::string_view json, std::size_t offset, std::span<const Span> spared,
            std::string_view spared_member) {
    JsonTokens tokens(json);
    JsonToken token;
    auto spare = spared.begin();
    while (tokens.next(token) && !redaction.is_blocked) {
      const std::size_t begin = token.where.begin + offset;
      while (spare != spared.end() && spare->end <= begin) ++spare;
      if (spare != spared.end() && spare->begin <= begin) continue;
      const std::string_view member =
          json.substr(token.member.begin, token.member.end - token.member.begin);
      if (token.depth == 1 && !spared_member.empty() && member == spared_member) continue;
      this->token(json, token, member, offset);
    }
  }

  Redaction redaction;

 private:
  RedactionAction action_of(std::uint32_t what) const {
    const std::size_t secrets = redactor_.secrets_.size();
    return what < secrets ? side_.secrets : side_.rules[what - secrets].action;
  }

  void note(const Finding& finding) {
    ++redaction.found[std::string(name_of(finding.what))];
    if (action_of(finding.what) == RedactionAction::block) redaction.is_blocked = true;
  }

  // Pieces of one secret that follow each other, over a line break as well, are one finding.
  void merge(std::vector<Finding>& found) const {
    constexpr std::size_t line_break = 2;
    std::vector<Finding> merged;
    for (const Finding& next : found) {
      const bool is_secret = next.what < redactor_.secrets_.size();
      const bool goes_on = !merged.empty() && merged.back().what == next.what &&
                           next.where.begin <= merged.back().where.end - (is_secret ? 0 : 1) +
                                                   (is_secret ? line_break : 0);
      if (!goes_on) {
        merged.push_back(next);
      } else {
        merged.back().where.end = std::max(merged.back().where.end, next.where.end);
      }
    }
    found = std::move(merged);
  }

  // Of two that overlap the first one names both.
  static std::vector<Finding> apart(const std::vector<Finding>& found) {
    std::vector<Finding> kept;
    for (const Finding& next : found) {
      if (kept.empty() || next.where.begin >= kept.back().where.end) {
        kept.push_back(next);
      } else {
        kept.back().where.end = std::max(kept.back().where.end, next.where.end);
      }
    }
    return kept;
  }

  void token(std::string_view json, const JsonToken& token, std::string_view member,
             std::size_t offset) {
    const std::string_view raw =
        json.substr(token.where.begin, token.where.end - token.where.begin);
    const bool is_escaped = token.kind != JsonTokenKind::number && has_escapes(raw, Escapes::json);
    std::string name;  // the one that a reader of the message sees
    if (has_escapes(member, Escapes::json)) member = name = unescape(member, Escapes::json);
    auto found = is_escaped ? look(member, unescape(raw, Escapes::json)) : look(member, raw);
    if (found.empty()) return;
    if (is_escaped) move_to_escaped(raw, Escapes::json, found);
    const std::size_t begin = token.where.begin + offset;
    if (token.kind == JsonTokenKind::number) {
      replace({begin, begin + raw.size()}, '"' + label(name_of(found.front().what)) + '"');
      return;
    }
    for (const Finding& finding : found) {
      // Two keys of one object that were different stay so.
      const std::string text = token.kind == JsonTokenKind::key
                                   ? label(fmt::format("{} {}", name_of(finding.what), ++keys_))
                                   : label(name_of(finding.what));
      replace({begin + finding.where.begin, begin + finding.where.end}, text);
    }
  }

  void replace(TextRange where, std::string text) {
    const Span span{static_cast<std::uint32_t>(where.begin), static_cast<std::uint32_t>(where.end)};
    redaction.edits.push_back({span, std::move(text)});
  }

  const Redactor& redactor_;
  const Side& side_;
  std::size_t keys_ = 0;
};

// A message is searched as a whole first. Texts stand in it between quotation marks, and so they do
// when all escapes are undone: no more than that is needed to see that nothing is there.
bool Redactor::may_find(const Side& side, std::string_view json) const {
  const auto may = [&](std::string_view text) {
    return (side.secrets != RedactionAction::off && finder_.occurs_in(text)) ||
           (side.scanner != nullptr && side.scanner->may_find(text));
  };
  if (!has_escapes(json, Escapes::json)) return may(json);
  return may(unescape(json, Escapes::json));
}

Redaction Redactor::of_message(Direction direction, std::string_view line, const Message& message,
                               std::span<const Span> spared) const {
  const Side& watched = side(direction);
  Walk walk(*this, watched);
  for (const Span part : {message.params, message.result, message.error}) {
    if (part.empty() || !watched.is_watched() || !may_find(watched, part.in(line))) continue;
    walk.json(part.in(line), part.begin, spared, {});
  }
  return std::move(walk.redaction);
}

Redaction Redactor::of_json(Direction direction, std::string_view json,
                            std::string_view spared) const {
  const Side& watched = side(direction);
  Walk walk(*this, watched);
  if (watched.is_watched() && may_find(watched, json)) walk.json(json, 0, {}, spared);
  return std::move(walk.redaction);
}

Redaction Redactor::of_each_text(Direction direction, std::string_view json) const {
  const Side& watched = side(direction);
  Walk walk(*this, watched);
  if (watched.is_watched()) walk.json(json, 0, {}, {});
  return std::move(walk.redaction);
}

std::string Redactor::of_text(Direction direction, std::string_view text,
                              FoundCounts& found) const {
  const Side& watched = side(direction);
  if (!watched.is_watched()) return std::string(text);
  Walk walk(*this, watched);
  std::string made;
  std::size_t at = 0;
  for (const Finding& finding : walk.look({}, text)) {
    made += text.substr(at, finding.where.begin - at);
    made += label(walk.name_of(finding.what));
    at = finding.where.end;
  }
  for (const auto& [name, count] : walk.redaction.found) found[name] += count;
  return made += text.substr(at);
}

}  // namespace cellblock
