#pragma once

#include <string>

#include "supervisor/launcher/run/spawn.h"

/// Spawns one cell whose set-up goes wrong, in a launcher that can take faults.
namespace cellblock::containment {

/// How it goes wrong. By default it does not.
struct Fault {
  SetupStep step = SetupStep::none;  ///< of the child's half: fails with EIO instead of being done
  std::string missing_bind;          ///< a directory to be mounted that does not exist
  std::uint32_t host_id = 0;         ///< instead of an id that the launcher has
  enum class Shortage : std::uint8_t { none, descriptors, namespaces, networks };
  Shortage shortage = Shortage::none;
};

/// "enter_root EIO", or "none" for a cell that ran to its end; then a line for each descriptor,
/// mount and process that the launcher has afterwards and did not have before.
/// `state_directory` belongs to ids_here().daemon.
std::string outcome_of(const Fault& fault, const std::string& state_directory);

}  // namespace cellblock::containment
