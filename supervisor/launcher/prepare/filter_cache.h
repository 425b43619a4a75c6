#pragma once

#include <memory>
#include <vector>

#include "supervisor/launcher/prepare/seccomp_filter.h"

namespace cellblock::launcher {

/// One program for each policy that differs: servers that may ask for the same share it. One
/// thread.
class FilterCache {
 public:
  Result<std::shared_ptr<const FilterProgram>> filter_for(const SyscallRules& rules,
                                                          NetworkMode network);
  std::size_t size() const { return compiled_.size(); }

 private:
  struct Compiled {
    SyscallRules rules;  ///< without its name, which asks for nothing
    NetworkMode network = NetworkMode::none;
    std::shared_ptr<const FilterProgram> filter;
  };

  std::vector<Compiled> compiled_;
};

}  // namespace cellblock::launcher
