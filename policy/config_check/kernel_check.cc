#include "policy/config_check/kernel_check.h"

#include <fmt/format.h>

#include "policy/config/installation_keys.h"
#include "policy/config_check/key_reader.h"

namespace cellblock {

Kernel check_kernel(Complaints& complaints, const ConfigText& main, const HostFacts& facts) {
  const Scope scope{complaints, main.file, "sandbox."};
  Kernel kernel;
  kernel.landlock_abi = facts.landlock_abi;
  read_keys(scope, main.sandbox, kernel);
  if (kernel.landlock_abi >= kernel.min_landlock) return kernel;
  const Place at = main.sandbox.at("min_landlock");
  const std::string has = kernel.landlock_abi == 0
                              ? std::string("has no Landlock")
                              : fmt::format("has Landlock ABI {}", kernel.landlock_abi);
  scope.error(at, "min_landlock",
              fmt::format("this kernel {}, and {} is required; allowed: a newer kernel (6.1 has "
                          "ABI 2), landlock among those of the boot parameter lsm=, or, as a "
                          "weakening, sandbox.min_landlock = {}",
                          has, kernel.min_landlock, kernel.landlock_abi));
  return kernel;
}

}  // namespace cellblock
