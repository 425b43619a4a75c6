#pragma once

#include <string>
#include <vector>

namespace cellblock::cli {

/// For execve(2) and posix_spawn(3): ends with a null pointer, valid as long as `words` exists
/// unchanged.
inline std::vector<char*> argument_pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace cellblock::cli
