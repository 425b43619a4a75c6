#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

/// What a program in a cell could try, as data. An attempt that succeeds does no harm to the
/// machine it is tried on: it opens without writing, writes back what was there, asks the kernel
/// with arguments that it must refuse once it has granted the right, or undoes at once what it did.
namespace cellblock::probe {

enum class OutcomeKind : std::uint8_t {
  unclear = 0,     ///< it did not come to an end, or could not be begun: it proves nothing
  held,            ///< refused with `error`, or without an errno as `detail` says
  open,            ///< it worked
  not_applicable,  ///< `detail`: what this machine or this call of the program lacks for it
};

/// How one attempt went. Fixed size: it crosses from the attempt's own process as bytes.
struct Outcome {
  OutcomeKind kind = OutcomeKind::unclear;
  std::int32_t error = 0;  ///< errno; 0: none
  std::array<char, 152> text{};

  std::string_view detail() const { return {text.data()}; }
};
static_assert(std::is_trivially_copyable_v<Outcome>);

Outcome opened(std::string_view detail = {});
Outcome held(int error, std::string_view detail = {});
Outcome held(std::string_view detail);
Outcome not_applicable(std::string_view why);
Outcome unclear(std::string_view why);

/// What the attempt needs before it tries anything failed with errno as it stands. Not
/// not_applicable: a cell too tight to try in has held nothing yet.
Outcome not_begun(std::string_view lacking);

/// From the result of a system call: a negative one is a refusal with errno as it stands.
Outcome from_call(long result);

/// For calls that are made with arguments that can do no harm: the kernel asks for the right to
/// them first, so any complaint but about permission means that the right was there.
Outcome from_harmless_call(long result);

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
