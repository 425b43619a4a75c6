#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/cli/table/command.h"

/// The commands as values, for whoever writes them down in another language.
namespace cellblock::cli {

enum class ValueKind : std::uint8_t { none, text, file, directory };

struct DescribedOption {
  std::string long_name;   ///< "timeout"; empty: there is none, or it is a place and no option
  std::string short_name;  ///< "n"
  std::string value;       ///< what stands for it: "TIME"
  ValueKind kind = ValueKind::none;
  std::vector<std::string> choices;  ///< all that the value may be; empty: anything
  std::string what;
  bool repeats = false;
};

struct DescribedCommand {
  std::string path;  ///< "pin list"; empty: the program itself
  std::string what;
  std::vector<DescribedOption> options;
  std::vector<DescribedOption> places;  ///< in their order
  std::vector<DescribedCommand> below;

  /// The last word of the path.
  std::string name() const;
};

/// The options of the program itself hold with every command.
DescribedCommand described(const Command& program);

/// The command, then all that are below it.
std::vector<const DescribedCommand*> with_all_below(const DescribedCommand& command);

}  // namespace cellblock::cli
