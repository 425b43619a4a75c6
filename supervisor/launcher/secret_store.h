#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "policy/config_bytes.h"
#include "supervisor/kernel/sys.h"

namespace cellblock::launcher {

/// The servers' secrets, kept in a sealed memfd and taken into memory only for the moment of a
/// spawn: the launcher's memory is copied into every cell's init and guardian.
class SecretStore {
 public:
  explicit SecretStore(Fd memory) : memory_(std::move(memory)) {}

  /// "NAME=value" of one server, in the order of its declaration. The caller wipes them.
  Result<std::vector<std::string>> of(const Server& server, std::uint32_t server_index) const;

 private:
  Fd memory_;
};

}  // namespace cellblock::launcher
