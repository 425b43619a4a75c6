#pragma once

#include <string>
#include <vector>

namespace cellblock::cli {

/// As execve(2) and posix_spawn(3) take them: with a null pointer at the end, valid as long as
/// `words` is and does not change.
inline std::vector<char*> argument_pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace cellblock::cli
