#pragma once

#include <cerrno>
#include <cstdio>
#include <cstring>

/// A probe tries one thing and says in one line how that went: `allowed`, or `refused EPERM`.
/// Probes are ordinary small programs; the same binary runs outside and inside a cell.
namespace cellblock::probe {

/// Takes errno as it stands when the attempt failed.
inline int say(bool succeeded) {
  if (succeeded) {
    std::puts("allowed");
  } else {
    std::printf("refused %s\n", ::strerrorname_np(errno));
  }
  return 0;
}

/// When what was looked for is not there and no call failed.
inline int say_refused(int error) {
  errno = error;
  return say(false);
}

}  // namespace cellblock::probe
