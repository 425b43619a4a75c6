#include "supervisor/launcher/prepare/filter_cache.h"

namespace cellblock::launcher {

Result<std::shared_ptr<const FilterProgram>> FilterCache::filter_for(const SyscallRules& rules,
                                                                     NetworkMode network) {
  SyscallRules nameless = rules;
  nameless.name.clear();
  for (const Compiled& known : compiled_) {
    if (known.rules == nameless && known.network == network) return known.filter;
  }
  FilterProgram program = CELLBLOCK_TRY(compile_filter(rules, network));
  auto filter = std::make_shared<const FilterProgram>(std::move(program));
  compiled_.push_back({std::move(nameless), network, filter});
  return filter;
}

}  // namespace cellblock::launcher
