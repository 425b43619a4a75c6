#pragma once

#include <span>
#include <string>
#include <vector>

#include "client/cli/table/words.h"

/// What shells offer for the word before the cursor, as far as the table of commands tells.
namespace cellblock::cli {

struct OfferedWord {
  std::string word;
  std::string what;  ///< one line, or empty
};

struct WordCompletion {
  std::vector<OfferedWord> offered;       ///< begin with `beginning`
  Completes wanted = Completes::nothing;  ///< what the caller has to find out besides
  std::string beginning;                  ///< of the value that is wanted
  std::string prefix;                     ///< "--server=": stands before it in the same word
  std::string server;                     ///< the one whose tools are wanted
  Words words;                            ///< what stands before
};

/// `words`: all behind the program's name up to the cursor, the last of them possibly empty. Words
/// that are not understood are passed over.
WordCompletion complete_word(const Command& program, std::span<const std::string> words);

}  // namespace cellblock::cli
