#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "policy/config/words.h"
#include "policy/config_check/value_check.h"

/// Values that are one word of a few.
namespace cellblock {

/// Complains about a word that is none of `known`.
void refuse_word(const Scope& scope, std::string_view key, const TextAt& text,
                 std::span<const std::string_view> known);

template <class T>
struct Choice {
  std::string_view word;
  T value;
};

/// Null: it is none of them, and complained about.
template <class T, std::size_t count>
const Choice<T>* find_choice(const Scope& scope, std::string_view key, const TextAt& text,
                             const std::array<Choice<T>, count>& choices) {
  for (const auto& choice : choices) {
    if (choice.word == text.value) return &choice;
  }
  std::array<std::string_view, count> known;
  std::ranges::transform(choices, known.begin(), &Choice<T>::word);
  refuse_word(scope, key, text, known);
  return nullptr;
}

/// Stores what is written, and leaves `out` alone when nothing is, or nothing good.
template <Worded E>
void check_choice(const Scope& scope, std::string_view key, const Maybe<std::string>& text,
                  E& out) {
  if (!text) return;
  const auto found = std::ranges::find(words<E>, text->value);
  if (found == words<E>.end()) return refuse_word(scope, key, *text, words<E>);
  out = static_cast<E>(found - words<E>.begin());
}

}  // namespace cellblock
