// stay: leaves a child that is stopped and one that has no parent left, and waits for ever.

#include <signal.h>
#include <unistd.h>

#include <cstdio>

namespace {

void leave_stopped_child() {
  if (::fork() == 0) {
    ::raise(SIGSTOP);
    ::pause();
  }
}

void leave_orphan() {
  if (::fork() != 0) return;
  ::setsid();
  if (::fork() == 0) ::pause();
  ::_exit(0);
}

}  // namespace

int main() {
  leave_stopped_child();
  leave_orphan();
  ::pause();
  return 0;
}
