#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <vector>

#include "supervisor/probe/attempts.h"
#include "supervisor/probe/files_at_hand.h"
#include "supervisor/probe/scratch.h"

namespace cellblock::probe {
namespace {

// Each is bounded by itself: what has no limit here counts as open when the bound is reached.
constexpr int most_processes = 3000;
constexpr int most_threads = 3000;
constexpr int most_descriptors = 70'000;
constexpr int most_files = 100'000;
constexpr int most_dead = 5000;
constexpr std::size_t most_bytes = std::size_t{256} << 20;
constexpr off_t terabyte = off_t{1} << 40;

Outcome after(int count, const char* what, int error) {
  const std::string detail = std::to_string(count) + what;
  return error == 0 ? opened(detail) : held(error, detail);
}

Outcome fork_bomb(const Setting&) {
  std::vector<pid_t> children;
  int error = 0;
  while (static_cast<int>(children.size()) < most_processes && error == 0) {
    const pid_t child = ::fork();
    if (child == 0) {
      while (true) ::pause();
    }
    if (child < 0) error = errno;
    if (child > 0) children.push_back(child);
  }
  for (const pid_t child : children) ::kill(child, SIGKILL);
  for (const pid_t child : children) ::waitpid(child, nullptr, 0);
  return after(static_cast<int>(children.size()), " processes", error);
}

void* wait_for_ever(void*) {
  while (true) ::pause();
  return nullptr;
}

// They end with this process.
Outcome thread_bomb(const Setting&) {
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, 65'536);
  int error = 0;
  int count = 0;
  for (; count < most_threads && error == 0; ++count) {
    pthread_t thread{};
    error = ::pthread_create(&thread, &attributes, wait_for_ever, nullptr);
  }
  return after(count, " threads", error);
}

Outcome descriptor_bomb(const Setting&) {
  int count = 0;
  while (count < most_descriptors && ::dup(0) >= 0) ++count;
  return after(count, " descriptors", count < most_descriptors ? errno : 0);
}

Outcome pipe_bomb(const Setting&) {
  static std::array<char, 65'536> block{};
  int count = 0;
  std::array<int, 2> ends{};
  while (count < most_descriptors / 2 && ::pipe2(ends.data(), O_NONBLOCK) == 0) {
    if (::write(ends[1], block.data(), block.size()) < 0) break;
    if (++count == 4096) break;  // 256 MiB of the kernel's memory
  }
  const bool bounded = count < 4096;
  return after(count, " full pipes", bounded ? errno : 0);
}

bool send_descriptor(int socket, int descriptor) {
  char byte = 'x';
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
  return ::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == 1;
}

// Descriptors in flight count for nobody's limit of open files.
Outcome park_descriptors(const Setting&) {
  int parked = 0;
  int pair[2] = {-1, -1};
  while (parked < most_descriptors) {
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) return held(errno);
    while (parked < most_descriptors && send_descriptor(pair[0], 0)) ++parked;
    if (errno != EAGAIN && errno != ENOBUFS) break;
  }
  return after(parked, " descriptors in flight", parked < most_descriptors ? errno : 0);
}

Outcome fill(const std::string& directory) {
  ::signal(SIGXFSZ, SIG_IGN);  // NOLINT: held is an errno then
  const Scratch scratch(directory);
  if (!scratch.valid()) return scratch.problem();
  const Open file = scratch.create(O_WRONLY, 0600);
  if (!file.valid()) return unprepared(errno);
  scratch.remove();
  static std::array<char, 1U << 20> block{};
  for (std::size_t written = 0; written < most_bytes; written += block.size()) {
    if (::write(file.get(), block.data(), block.size()) < 0) return held(errno);
  }
  return opened("256 MiB were written");
}
Outcome fill_tmp(const Setting&) { return fill("/tmp"); }
Outcome fill_shm(const Setting&) { return fill("/dev/shm"); }

Outcome use_up_inodes(const Setting&) {
  const Scratch scratch("/tmp");
  if (!scratch.valid()) return scratch.problem();
  int count = 0;
  int error = 0;
  const auto name = [&](int number) { return scratch.directory() + "/" + std::to_string(number); };
  while (count < most_files && error == 0) {
    const Open file(::open(name(count).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (file.valid()) ++count;
    if (!file.valid()) error = errno;
  }
  for (int number = 0; number < count; ++number) ::unlink(name(number).c_str());
  return after(count, " files", error);
}

Outcome make_sparse_terabyte(const Setting&) {
  ::signal(SIGXFSZ, SIG_IGN);  // NOLINT: held is an errno then
  const Scratch scratch;
  if (!scratch.valid()) return scratch.problem();
  const Open file = scratch.create(O_WRONLY, 0600);
  if (!file.valid()) return unprepared(errno);
  scratch.remove();
  return from_call(::ftruncate(file.get(), terabyte));
}

// The dead that nobody waits for keep their place in the table of processes.
Outcome flood_with_dead(const Setting&) {
  int count = 0;
  int error = 0;
  for (; count < most_dead && error == 0; ++count) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    if (child < 0) error = errno;
  }
  return after(count, " dead processes", error);
}

constexpr Attempt attempts[] = {
    {"fork_bomb", "processes can be started without end", fork_bomb, Danger::bomb},
    {"thread_bomb", "threads can be started without end", thread_bomb, Danger::bomb},
    {"flood_with_dead_processes", "the table of processes can be filled", flood_with_dead,
     Danger::bomb},
    {"descriptor_bomb", "descriptors can be opened without end", descriptor_bomb, Danger::bomb},
    {"pipe_bomb", "the kernel's memory can be filled by pipes", pipe_bomb, Danger::bomb},
    {"park_descriptors", "descriptors can be held beyond the limit", park_descriptors,
     Danger::bomb},
    {"fill_tmp", "memory can be filled by files in /tmp", fill_tmp, Danger::bomb},
    {"fill_shm", "memory can be filled by files in /dev/shm", fill_shm, Danger::bomb},
    {"use_up_inodes", "memory can be filled by empty files", use_up_inodes, Danger::bomb},
    {"make_sparse_terabyte", "a file can be larger than the disk", make_sparse_terabyte,
     Danger::bomb},
};

}  // namespace

std::span<const Attempt> bombs_attempts() { return attempts; }

}  // namespace cellblock::probe
