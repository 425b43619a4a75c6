#pragma once

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "policy/config_check/value_check.h"

/// Values that are one word of a few.
namespace cellblock {

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
  std::string words;
  for (const auto& choice : choices) words += fmt::format(", \"{}\"", choice.word);
  scope.error(
      text.at, key,
      fmt::format("\"{}\" is not known to this version; allowed: {}", text.value, words.substr(2)));
  return nullptr;
}

/// Stores what is written, and leaves `out` alone when nothing is, or nothing good.
template <class T, std::size_t count>
void check_choice(const Scope& scope, std::string_view key, const Maybe<std::string>& text,
                  const std::array<Choice<T>, count>& choices, T& out) {
  if (!text) return;
  const auto* choice = find_choice(scope, key, {text->value, text->at}, choices);
  if (choice != nullptr) out = choice->value;
}

}  // namespace cellblock
