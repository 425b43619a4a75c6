#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/handover/launcher_process.h"

namespace cellblock::daemon {
namespace {

constexpr std::chrono::minutes plenty{5};

/// A user namespace with nobody in it; not valid: this machine gives none to us.
Fd make_user_namespace() {
  auto line = make_seqpacket_pair().value();
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(CLONE_NEWUSER) < 0) ::_exit(1);
    const auto own = open_at(AT_FDCWD, "/proc/self/ns/user", O_RDONLY);
    const int sent = own ? own->get() : -1;
    ::_exit(send_record(line.second.get(), 'u', std::span(&sent, 1)) ? 0 : 1);
  }
  line.second.reset();
  char byte = 0;
  auto received = receive_record(line.first.get(), byte);
  ::waitpid(child, nullptr, 0);
  return received && received->fds.size() == 1 ? std::move(received->fds[0]) : Fd();
}

ino_t number_of(int descriptor) {
  struct stat found{};
  return ::fstat(descriptor, &found) == 0 ? found.st_ino : 0;
}

TEST(HostView, IsAMountNamespaceOfThatUserNamespace) {
  const Fd owner = make_user_namespace();
  if (!owner.valid()) GTEST_SKIP() << "no user namespaces for us on this machine";
  const auto view = host_view(owner.get(), plenty);
  ASSERT_TRUE(view.has_value()) << view.error().text();
  EXPECT_EQ(::ioctl(view->get(), NS_GET_NSTYPE), CLONE_NEWNS);
  const Fd found(::ioctl(view->get(), NS_GET_USERNS));
  EXPECT_EQ(number_of(found.get()), number_of(owner.get()));
  const auto own = open_at(AT_FDCWD, "/proc/self/ns/mnt", O_RDONLY);
  EXPECT_NE(number_of(view->get()), number_of(own->get()));
}

TEST(HostView, SaysWhichCallFailed) {
  const auto no_namespace = open_at(AT_FDCWD, "/dev/null", O_RDONLY);
  const auto view = host_view(no_namespace->get(), plenty);
  ASSERT_FALSE(view.has_value());
  EXPECT_EQ(view.error().text(), "setns: Invalid argument");
}

TEST(HostView, LeavesNoChildBehind) {
  const auto no_namespace = open_at(AT_FDCWD, "/dev/null", O_RDONLY);
  EXPECT_FALSE(host_view(no_namespace->get(), plenty).has_value());
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

}  // namespace
}  // namespace cellblock::daemon
