#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/cli/table/command.h"

namespace cellblock::cli {

/// All of it is a number.
std::optional<double> number_in(std::string_view text);

/// What the command line, the environment and the standard values give for the options of a
/// command.
class Words {
 public:
  /// `values`: as they were checked.
  void set(const Option& option, std::vector<std::string> values);

  /// Written, and of a flag: not switched off again.
  bool has(const Option& option) const;
  /// Else the standard value, or empty.
  std::string text(const Option& option) const;
  std::vector<std::string> all(const Option& option) const;
  unsigned number(const Option& option) const;
  /// The value of an option in seconds.
  std::chrono::milliseconds time(const Option& option) const;

 private:
  std::map<const Option*, std::vector<std::string>> values_;
};

}  // namespace cellblock::cli
