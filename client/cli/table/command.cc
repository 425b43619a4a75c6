#include "client/cli/table/command.h"

#include <algorithm>

namespace cellblock::cli {

Command older(Command command, std::string_view name, std::string_view newer) {
  command.name = name;
  command.newer = newer;
  return command;
}

std::vector<std::string_view> spellings(const Option& option) {
  std::vector<std::string_view> names;
  for (auto rest = option.name; !rest.empty();) {
    names.push_back(rest.substr(0, rest.find(',')));
    rest.remove_prefix(std::min(names.back().size() + 1, rest.size()));
  }
  return names;
}

std::vector<const Option*> all_options(const Command& command) {
  auto all = command.required;
  all.insert(all.end(), command.optional.begin(), command.optional.end());
  all.insert(all.end(), command.options.begin(), command.options.end());
  return all;
}

}  // namespace cellblock::cli
