#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "policy/config/config_bytes.h"
#include "supervisor/os/sys.h"

namespace cellblock::launcher {

struct CellSecret {
  SecretDelivery delivery = SecretDelivery::environment;
  std::string name;
  std::string text;  ///< environment: "NAME=value"; else the value
};

/// As soon as they are not needed any more.
void wipe(std::vector<CellSecret>& secrets);

/// The servers' secrets, kept in a sealed memfd and taken into memory only for the moment of a
/// spawn: the launcher's memory is copied into every cell's init and guardian.
class SecretStore {
 public:
  explicit SecretStore(Fd memory) : memory_(std::move(memory)) {}

  /// Those of one server, in the order of its declaration. The caller wipes them.
  /// EBADMSG, ENODATA: the memory is not what the supervisor made for this configuration.
  SysResult<std::vector<CellSecret>> of(const Server& server, std::uint32_t server_index) const;

  /// Whether there is one for each that this configuration declares.
  bool fits(const Config& config) const;

 private:
  Fd memory_;
};

/// A sealed memfd for each secret that is delivered so, in their order.
SysResult<std::vector<Fd>> secret_memfds(const std::vector<CellSecret>& secrets);

}  // namespace cellblock::launcher
