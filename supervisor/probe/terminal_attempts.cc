#include <fcntl.h>
#include <linux/tiocl.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): posix_openpt is POSIX
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "supervisor/probe/attempts.h"
#include "supervisor/probe/files_at_hand.h"

namespace cellblock::probe {
namespace {

/// A terminal of its own where it can have one, which becomes that of its session; else standard
/// input, as an injector would.
int some_terminal() {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (master < 0 || ::grantpt(master) != 0 || ::unlockpt(master) != 0) return STDIN_FILENO;
  std::array<char, 64> name{};
  ::ptsname_r(master, name.data(), name.size());
  return ::open(name.data(), O_RDWR);  // NOLINT: without O_NOCTTY on purpose
}

constexpr unsigned long high_bit = 1UL << 32;

Outcome control(unsigned long request, void* argument) {
  return in_new_session(
      [&] { return from_call(::syscall(SYS_ioctl, some_terminal(), request, argument)); });
}

Outcome type(const Setting&) {
  char key = 'x';
  return control(TIOCSTI, &key);
}
Outcome type_high(const Setting&) {
  char key = 'x';
  return control(high_bit | TIOCSTI, &key);
}
Outcome select_text(const Setting&) {
  char request = TIOCL_GETSHIFTSTATE;
  return control(TIOCLINUX, &request);
}
Outcome select_text_high(const Setting&) {
  char request = TIOCL_GETSHIFTSTATE;
  return control(high_bit | TIOCLINUX, &request);
}
Outcome take_terminal(const Setting&) {
  return in_new_session(
      [] { return from_call(::syscall(SYS_ioctl, some_terminal(), TIOCSCTTY, 0)); });
}
Outcome set_discipline(const Setting&) {
  int plain = 0;  // N_TTY, what it has already
  return control(TIOCSETD, &plain);
}
Outcome redirect_console(const Setting&) {
  const int terminal = some_terminal();
  const Outcome outcome = from_call(::syscall(SYS_ioctl, terminal, TIOCCONS, 0));
  if (outcome.kind != OutcomeKind::open) return outcome;
  const Open console(::open("/dev/console", O_WRONLY | O_NOCTTY | O_CLOEXEC));
  if (console.valid()) ::ioctl(console.get(), TIOCCONS);  // gives it back
  return outcome;
}
Outcome make_terminal(const Setting&) { return try_open("/dev/ptmx", O_RDWR); }
Outcome open_terminal(const Setting&) { return try_open("/dev/tty", O_RDWR); }
Outcome open_console(const Setting&) {
  return try_any({"/dev/console", "/dev/tty0", "/dev/tty1", "/dev/vcs", "/dev/ttyS0"}, O_WRONLY);
}

constexpr Attempt attempts[] = {
    {"type_into_terminal", "commands can be typed for whoever started it", type},
    {"type_into_terminal_high_bits", "the same past a filter that compares 64 bits", type_high},
    {"paste_into_console", "text can be pasted into a console", select_text},
    {"paste_into_console_high_bits", "the same past a filter that compares 64 bits",
     select_text_high},
    {"take_terminal", "a terminal can be made its own", take_terminal},
    {"set_line_discipline", "rarely used drivers can be loaded", set_discipline},
    {"redirect_console", "what the kernel says can be swallowed", redirect_console},
    {"make_terminal", "terminals can be made", make_terminal},
    {"open_controlling_terminal", "it has the terminal of whoever started it", open_terminal},
    {"open_console", "the console of the machine can be written", open_console},
};

}  // namespace

std::span<const Attempt> terminal_attempts() { return attempts; }

}  // namespace cellblock::probe
