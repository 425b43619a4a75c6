#pragma once

#include <cstdint>
#include <string>

namespace cellblock::cli {

/// What would have allowed one refused operation, taken apart from the daemon's sentence about it.
struct Remedy {
  enum class Kind : std::uint8_t {
    none,
    egress,
    system_call,
    unadvised,  ///< a system call that would be allowed by what is never proposed: ptrace
    other,
  };

  Kind kind = Kind::none;
  std::string target;   ///< egress: "api.example.org:443"
  std::string call;     ///< system_call: "mount"
  std::string base;     ///< of a profile that is to be made; or
  std::string profile;  ///< the declared one that is to be changed
  bool adds_call = false;
  bool takes_back = false;  ///< out of that profile's `refuse`
  bool write_exec = false;
  bool network = false;
};

/// `what` and `allow` as `cellblock/logs` tells them of a refused operation. Words that are none of
/// ours make it `other`. Pure.
Remedy read_remedy(const std::string& what, const std::string& allow);

}  // namespace cellblock::cli
