#include "client/cli/table/command.h"

namespace cellblock::cli {

std::vector<const Option*> all_options(const Command& command) {
  auto all = command.required;
  all.insert(all.end(), command.optional.begin(), command.optional.end());
  all.insert(all.end(), command.options.begin(), command.options.end());
  return all;
}

}  // namespace cellblock::cli
