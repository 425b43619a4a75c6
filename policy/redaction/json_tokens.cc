#include "policy/redaction/json_tokens.h"

#include <algorithm>

namespace cellblock {

bool JsonTokens::next(JsonToken& token) {
  while (at_ < json_.size()) {
    if (take(json_[at_], token)) return true;
  }
  return false;
}

bool JsonTokens::take(char letter, JsonToken& token) {
  if (letter == '"') return string(token);
  if (letter == '-' || (letter >= '0' && letter <= '9')) return number(token);
  ++at_;
  const bool in_object = !open_.empty() && open_.back().container == Container::object;
  switch (letter) {
    case '{':
      open_.push_back({Container::object, member_});
      is_key_next_ = true;
      break;
    case '[':
      open_.push_back({Container::array, member_});
      is_key_next_ = false;
      break;
    case '}':
    case ']':
      if (!open_.empty()) open_.pop_back();
      is_key_next_ = false;
      break;
    case ',':
      is_key_next_ = in_object;
      member_ = open_.empty() ? TextRange{} : open_.back().member;
      break;
    default:
      break;
  }
  return false;
}

bool JsonTokens::string(JsonToken& token) {
  const std::size_t begin = ++at_;
  while (true) {
    at_ = std::min(json_.find_first_of("\"\\", at_), json_.size());
    if (at_ == json_.size() || json_[at_] == '"') break;
    at_ = std::min(at_ + 2, json_.size());
  }
  const TextRange where{begin, at_};
  if (at_ < json_.size()) ++at_;
  token = {is_key_next_ ? JsonTokenKind::key : JsonTokenKind::string, where, {}, open_.size()};
  if (!is_key_next_) {
    token.member = member_;
  } else {
    member_ = where;
  }
  is_key_next_ = false;
  return true;
}

bool JsonTokens::number(JsonToken& token) {
  const std::size_t begin = at_;
  at_ = std::min(json_.find_first_not_of("-+.0123456789eE", at_), json_.size());
  token = {JsonTokenKind::number, {begin, at_}, member_, open_.size()};
  return true;
}

}  // namespace cellblock
