#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "policy/config/config_bytes.h"
#include "supervisor/launcher/child/child_plan.h"
#include "supervisor/os/sys.h"

/// A server's environment and secrets, in memory that is wiped.
namespace cellblock::launcher {

struct CellSecret {
  SecretDelivery delivery = SecretDelivery::environment;
  std::string name;
  std::string text;  ///< environment: "NAME=value"; else the value
};

/// To be called as soon as they are not needed any more.
void wipe(std::vector<CellSecret>& secrets);

/// The servers' secrets, kept in a sealed memfd and taken into memory only for the moment of a
/// spawn: the launcher's memory is copied into every cell's init and guardian.
class SecretStore {
 public:
  explicit SecretStore(Fd memory) : memory_(std::move(memory)) {}

  /// The secrets of one server, in the order of its declaration. The caller wipes them. EBADMSG,
  /// ENODATA: the memory is not what the supervisor made for this configuration.
  SysResult<std::vector<CellSecret>> of(const Server& server, std::uint32_t server_index) const;

  /// Whether there is one for each that this configuration declares.
  bool fits(const Config& config) const;

 private:
  Fd memory_;
};

/// A sealed memfd for each secret that is delivered so, in their order.
SysResult<std::vector<Fd>> secret_memfds(const std::vector<CellSecret>& secrets);

/// What a server's environment and secret files are made of, in one block of memory: so the copies
/// that init and guardian have of it can be wiped in one go. Wiped here when it goes.
class SpawnEnvironment {
 public:
  /// `plain`: "NAME=value". Of `secrets` those for the environment and for files are taken.
  SpawnEnvironment(const std::vector<std::string>& plain, const std::vector<CellSecret>& secrets);
  SpawnEnvironment(const SpawnEnvironment&) = delete;
  SpawnEnvironment& operator=(const SpawnEnvironment&) = delete;
  ~SpawnEnvironment();

  /// Points the plan at what is here, which must outlive the clone.
  void enter_into(ChildPlan& plan) const;

 private:
  char* add(const std::string& text);

  std::size_t size_ = 0;
  std::size_t used_ = 0;
  std::unique_ptr<char[]> block_;
  std::vector<char*> variables_;
  std::vector<SecretFile> files_;
  std::string file_options_;
};

}  // namespace cellblock::launcher
