#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "supervisor/probe/outcome.h"

/// What a program in a cell could try, as data. An attempt that succeeds does no harm to the
/// machine it is tried on: it opens without writing, writes back what was there, asks the kernel
/// with arguments that it must refuse once it has granted the right, or undoes at once what it did.
namespace cellblock::probe {

enum class AttemptClass : std::uint8_t {
  files,
  processes,
  kernel,
  memory,
  network,
  privileges,
  resources,
  terminal,
  ipc,
  environment,
};

std::string_view name_of(AttemptClass kind);

enum class Danger : std::uint8_t {
  none,
  bomb,   ///< bounded, but only for where limits hold
  fatal,  ///< the defence against it is to end the whole cell
};

/// What only the person who runs the program can name; empty: not named.
struct Targets {
  std::string tcp;              ///< "127.0.0.1:8080", something outside that listens
  std::string abstract_socket;  ///< a listening abstract socket outside, without the leading NUL
  std::string unix_socket;      ///< the path of a listening socket outside
  std::string datagram_socket;  ///< the path of a datagram socket outside
  std::string file;             ///< a file outside that this user may read
  std::string variable;         ///< a variable of the environment outside
  std::string host_name;        ///< of the machine
  pid_t process = 0;            ///< of this user, outside
};

/// What an attempt knows about where it runs.
struct Setting {
  Targets targets;
  pid_t program = 0;         ///< cellblock-probe itself, the parent of the attempt's process
  pid_t program_parent = 0;  ///< and who started it; 0: outside its pid namespace
  int reply = -1;            ///< the attempt's own pipe, which is no leak
};

struct Attempt {
  std::string_view id;       ///< stable
  std::string_view meaning;  ///< what it means if it succeeds
  Outcome (*run)(const Setting& setting) = nullptr;
  Danger danger = Danger::none;
  /// The calls, each followed by a blank or the end, that a cell refuses by name and an admin's
  /// profile may allow: all of them together open the attempt. Empty: no profile does.
  std::string_view calls;
};

struct AttemptGroup {
  AttemptClass kind{};
  std::span<const Attempt> attempts;
};

}  // namespace cellblock::probe
