#include "supervisor/launcher/run/descriptor_receivers.h"

#include <signal.h>  // NOLINT(modernize-deprecated-headers)
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "supervisor/os/timer.h"

namespace cellblock::launcher {
namespace {

constexpr std::ptrdiff_t max_receivers_per_user = 2;
constexpr std::size_t most_in_all = 512;
constexpr std::chrono::seconds patience{2};

void kill_child(int pidfd) { syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, nullptr, 0); }

// Only for one that has ended: nothing here waits.
void reap(int pidfd) {
  siginfo_t info{};
  waitid(P_PIDFD, static_cast<id_t>(pidfd), &info, WEXITED | WNOHANG);
}

}  // namespace

bool DescriptorReceivers::has_room(std::uint32_t user) const {
  const auto of_user = std::ranges::count_if(
      children_, [user](const auto& entry) { return entry.second->user == user; });
  return of_user < max_receivers_per_user && children_.size() < most_in_all;
}

SysResult<void> DescriptorReceivers::receive(std::uint32_t user, int channel, Done done) {
  if (!has_room(user)) return std::unexpected(SysError{"fork", EUSERS});
  auto child = std::make_unique<Child>();
  child->user = user;
  child->done = std::move(done);
  child->deadline = CELLBLOCK_TRY(start_timer(patience));
  AttachedChild made = CELLBLOCK_TRY(receive_attached_in_child(channel));
  child->line = std::move(made.line);
  child->pidfd = Fd(static_cast<int>(syscall(SYS_pidfd_open, made.pid, 0)));
  if (child->pidfd.valid()) return watch(std::move(child));
  const auto failure = sys_fail("pidfd_open");
  kill(made.pid, SIGKILL);
  return failure;
}

SysResult<void> DescriptorReceivers::watch(std::unique_ptr<Child> child) {
  const int pidfd = child->pidfd.get();
  const int deadline = child->deadline.get();
  children_[pidfd] = std::move(child);
  auto watched = loop_.watch_input(pidfd, [this, pidfd] { ended(pidfd); });
  if (watched) watched = loop_.watch_input(deadline, [this, pidfd] { too_late(pidfd); });
  if (watched) return {};
  kill_child(pidfd);
  loop_.forget(pidfd);
  children_.erase(pidfd);
  return watched;
}

void DescriptorReceivers::stop_waiting(Child& child) {
  if (child.deadline.valid()) loop_.forget(child.deadline.get());
  child.deadline.reset();
  child.line.reset();
  child.done = nullptr;
}

void DescriptorReceivers::too_late(int pidfd) {
  Child& child = *children_.at(pidfd);
  const Done done = child.done;
  stop_waiting(child);
  kill_child(pidfd);
  done(nullptr);
}

void DescriptorReceivers::ended(int pidfd) {
  const auto found = children_.find(pidfd);
  const std::unique_ptr<Child> child = std::move(found->second);
  children_.erase(found);
  loop_.forget(pidfd);
  reap(pidfd);
  AttachedRecord record;
  const bool told =
      child->line.valid() && receive_record(child->line.get(), record, MSG_DONTWAIT).has_value();
  const Done done = child->done;
  stop_waiting(*child);
  if (done) done(told ? &record : nullptr);
}

void DescriptorReceivers::forget(std::uint32_t user) {
  for (const auto& [pidfd, child] : children_) {
    if (child->user != user) continue;
    stop_waiting(*child);
    kill_child(pidfd);
  }
}

namespace {

using Kind = GatewayRecord::Kind;

// The kernel says MSG_CTRUNC for what there is no room for. It drops references then, of which a
// peeked record keeps others; it puts nothing into the table of descriptors.
Kind receive(int channel, wire::GatewayRequest& request, int flags) {
  iovec part{&request, sizeof request};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  const ssize_t count = recvmsg(channel, &message, MSG_DONTWAIT | flags);
  if (count < 0) return errno == EAGAIN || errno == EINTR ? Kind::nothing : Kind::nonsense;
  if ((message.msg_flags & MSG_CTRUNC) != 0) return Kind::attached;
  if (count == 0) return Kind::closed;
  const bool whole = count == sizeof request && (message.msg_flags & MSG_TRUNC) == 0;
  return whole ? Kind::request : Kind::nonsense;
}

}  // namespace

GatewayRecord receive_from_gateway(int channel) {
  GatewayRecord record;
  record.kind = receive(channel, record.request, MSG_PEEK);
  if (record.kind == Kind::request) record.kind = receive(channel, record.request, 0);
  return record;
}

}  // namespace cellblock::launcher
